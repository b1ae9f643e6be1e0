"""Builds the regions of datasets, and names places by their edges."""

from typing import TYPE_CHECKING

from mechanisms.space.grid import Region

if TYPE_CHECKING:  # commands that work on files load no models
    from heatmaps.models import Dataset


def region_of(dataset: "Dataset") -> Region:
    """Returns the box in degrees that the dataset was created with."""
    return Region(dataset.west, dataset.south, dataset.east, dataset.north)


def text_of(region: Region) -> str:
    """Returns the same text for the same box, exactly: west, south, east, north."""
    return ",".join(repr(edge + 0.0) for edge in region)  # -0.0 is 0.0
