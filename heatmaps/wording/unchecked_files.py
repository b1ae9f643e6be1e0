"""Says that nobody can check what the file behind a map was made from."""

from typing import Final

from heatmaps.guides.chain import rests_on_file
from heatmaps.guides.choices import Chosen

UNCHECKED: Final = (
    "This map was guided by a file. Hazemap cannot check that the file was not made from these people: if it "
    "was, nothing is promised."
)
# The same of a map further back.
UNCHECKED_BEFORE: Final = (
    "This map goes back to one that was guided by a file. Hazemap cannot check that the file was not made "
    "from these people: if it was, nothing is promised."
)


def unchecked_of(chosen: Chosen | None) -> str:
    """What nobody can check about a start; empty: nothing."""
    if chosen is None:
        return ""
    if chosen.release is None:
        return UNCHECKED
    return UNCHECKED_BEFORE if rests_on_file(chosen.release) else ""
