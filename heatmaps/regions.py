"""Builds the regions of datasets."""

from heatmaps.models import Dataset
from mechanisms.space.grid import Region


def region_of(dataset: Dataset) -> Region:
    """The box in degrees that the dataset was created with."""
    return Region(dataset.west, dataset.south, dataset.east, dataset.north)
