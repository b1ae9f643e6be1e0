"""Adds up what a map and the maps that it started from promise together."""

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
    less than the one it started from.
    """
    before = guide
    while before is not None and before.dataset_id == dataset.pk:
        guarantee += Guarantee.from_json(before.guarantee)
        before = before.guide_release
    return Together(
        guarantee=guarantee,
        is_alone=guide is None or guide.dataset_id != dataset.pk,
        goes_elsewhere=before is not None,
    )
