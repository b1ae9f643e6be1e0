"""Goes back through the maps that a map started from, and adds up what they promise together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.db.models.expressions import RawSQL

from heatmaps.guides.choices import Chosen
from heatmaps.guides.release_sheets import FileSheet
from heatmaps.models import Dataset, GuideFile, Release
from mechanisms.guarantee import Guarantee, Relation

# Releases that some go back to, their own guides and so on to the first.
_EARLIER: Final = """
WITH RECURSIVE earlier (id) AS (
    SELECT guide_release_id FROM heatmaps_release WHERE guide_release_id IS NOT NULL AND id IN ({})
    UNION
    SELECT guided.guide_release_id FROM heatmaps_release guided JOIN earlier ON guided.id = earlier.id
    WHERE guided.guide_release_id IS NOT NULL
)
SELECT id FROM earlier
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Holds the promise of a map and of all maps of its dataset that it goes back to."""

    guarantee: Guarantee
    is_alone: bool  # it goes back to none that is counted
    goes_elsewhere: bool  # a map of another dataset is among those before it


def together(dataset: Dataset, guarantee: Guarantee, start: Chosen | None) -> Together:
    """Adds up what a map of the dataset and those before it promise.

    guarantee: of the map. start: what it begins from.

    The guide shapes the map, so that whatever it tells is in there, too: a map that costs little tells no
    less than the one it started from. Maps of the dataset behind one of another dataset count as well, and so
    does the map that a file is, of whomever it was made: that is not known.
    """
    before = [] if start is None else list(chain(start.release))
    own = [release for release in before if release.dataset_id == dataset.pk]
    for release in own:
        guarantee += Guarantee.from_json(release.guarantee)
    sheet = counted_sheet(start, guarantee.relation)
    if sheet is not None:
        guarantee += sheet.guarantee
    is_alone = not own and sheet is None
    return Together(guarantee=guarantee, is_alone=is_alone, goes_elsewhere=len(own) < len(before))


def together_or_none(dataset: Dataset, guarantee: Guarantee, start: Chosen | None) -> Guarantee | None:
    """Adds up as `together`; None of a map that goes back to none that is counted."""
    total = together(dataset, guarantee, start)
    return None if total.is_alone else total.guarantee


def counted_sheet(start: Chosen | None, relation: Relation) -> FileSheet | None:
    """Returns the release sheet of the file that the first map started from, where its losses add up."""
    file = None if start is None else _first_file(start)
    if file is None or file.sheet is None:
        return None
    sheet = FileSheet.from_json(file.sheet)
    return sheet if sheet.guarantee.relation is relation else None


def chain(guide: Release | None) -> Iterator[Release]:
    """Yields a guide, its own guide, and so on to the first."""
    while guide is not None:
        yield guide
        guide = guide.guide_release


def load_chains(releases: Iterable[Release]) -> None:
    """Loads with one query all that `chain` yields for these releases, however far they go back."""
    guided = [release for release in releases if release.guide_release_id is not None]
    if not guided:
        return
    ids = [Release._meta.pk.get_db_prep_value(release.pk, connection) for release in guided]
    earlier = RawSQL(_EARLIER.format(", ".join(["%s"] * len(ids))), ids)  # noqa: S611 - no text of people
    rows = Release.objects.filter(pk__in=earlier).select_related("dataset", "publication", "guide_file")
    by_id = {row.pk: row for row in rows.defer("guide_file__shares")}
    for release in (*guided, *by_id.values()):
        if release.guide_release_id is not None:
            release.guide_release = by_id[release.guide_release_id]


def rests_on_file(start: Chosen) -> bool:
    """Tells whether the first of them started from a file, whose making nobody can check."""
    return _first_file(start) is not None


def _first_file(start: Chosen) -> GuideFile | None:
    if start.release is None:
        return start.file
    *_, first = chain(start.release)
    return first.guide_file
