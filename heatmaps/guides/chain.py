"""Goes back through the maps that a map started from, and adds up what they promise together."""

from collections.abc import Iterator
from dataclasses import dataclass

from heatmaps.models import Dataset, Release
from mechanisms.guarantee import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Of a map and of all maps of its dataset that it goes back to."""

    guarantee: Guarantee
    is_alone: bool  # it goes back to none
    goes_elsewhere: bool  # a map of another dataset is among those before it


def together(dataset: Dataset, guarantee: Guarantee, guide: Release | None) -> Together:
    """guarantee: of a map of the dataset that starts from the guide.

    The guide shapes the map, so that whatever it tells is in there, too: a map that costs little tells no
    less than the one it started from. Maps of the dataset behind one of another dataset count as well.
    """
    before = list(chain(guide))
    own = [one for one in before if one.dataset_id == dataset.pk]
    for one in own:
        guarantee += Guarantee.from_json(one.guarantee)
    return Together(guarantee=guarantee, is_alone=not own, goes_elsewhere=len(own) < len(before))


def together_or_none(dataset: Dataset, guarantee: Guarantee, guide: Release | None) -> Guarantee | None:
    """As `together`; None of a map that goes back to none of the dataset."""
    found = together(dataset, guarantee, guide)
    return None if found.is_alone else found.guarantee


def chain(guide: Release | None) -> Iterator[Release]:
    """A guide, its own guide, and so on to the first."""
    while guide is not None:
        yield guide
        guide = guide.guide_release


def rests_on_file(guide: Release) -> bool:
    """Whether the first of them started from a file, of which nobody can check what it was made from."""
    *_, first = chain(guide)
    return first.guide_file_id is not None
