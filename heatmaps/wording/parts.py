"""The part of the data that a question is about, in words."""

from collections.abc import Mapping
from typing import Final

from heatmaps.slices import EDGES, Slice, moment_or_none
from mechanisms.grid import Region

PERIOD: Final = "Period"
PART: Final = "Part of the region"


def part_words(asked: Slice, region: Region) -> list[tuple[str, str]]:
    """(title, text) of what is restricted; nothing where all the data are asked about.

    region: the dataset's.
    """
    words = []
    if asked.has_period:
        words.append((PERIOD, period_words(moment_or_none(asked.since), moment_or_none(asked.until))))
    if asked.part is not None:
        box = dict(zip(EDGES, asked.region(region), strict=True))
        words.append((PART, box_words(box)))
    return words


def period_words(since: str | None, until: str | None) -> str:
    """Of moments as `slices.moment_text` writes them."""
    if since is None or until is None:
        bounds = f"before {_moment(until)}" if since is None else f"from {_moment(since)} on"
    else:
        bounds = f"from {_moment(since)} to before {_moment(until)}"
    return f"{bounds} UTC; check-ins without a time are left out"


def box_words(box: Mapping[str, float]) -> str:
    """Of west, south, east and north in degrees."""
    return f"latitude {box['south']:g}° to {box['north']:g}°, longitude {box['west']:g}° to {box['east']:g}°"


def _moment(text: str | None) -> str:
    return "" if text is None else text.removesuffix("Z").replace("T", " ").removesuffix(":00")
