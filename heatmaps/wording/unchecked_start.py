"""Says what nobody can check about the map that another one starts from, as the database knows it."""

from heatmaps.guides.chain import counted_sheet, rests_on_file
from heatmaps.guides.choices import Chosen
from heatmaps.wording.unchecked_files import Unchecked, unchecked_file
from mechanisms.guarantee import Relation


def unchecked_of(start: Chosen | None, relation: Relation | str) -> Unchecked | None:
    """Words it; None where everything is known. relation: of the dataset whose map starts there."""
    if start is None or not rests_on_file(start):
        return None
    return unchecked_file(counted_sheet(start, Relation(relation)), is_before=start.release is not None)
