"""Draws the pixels of a map: classes of cells, never interpolated, placed for the Mercator projection."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import ImageColor

from heatmaps.maps import palette
from heatmaps.maps.legend import FIRST
from mechanisms.space.grid import Region

MERCATOR_LIMIT: Final = 85.0511287798066  # degrees: where web maps end

_TALLEST: Final = 2048  # pixels
_ROWS_PER_CELL: Final = 4  # a cell's border is then off by an eighth of the cell at most


def pixels(classes: NDArray[np.uint8], region: Region, *, count: int, dark: bool) -> NDArray[np.uint8]:
    """Returns (height, side, 4) RGBA of a (side, side) grid of class indices, row 0 north; zero is
    transparent.

    `count` is the number of classes that stand for a range of densities.
    """
    height = max(len(classes), min(_ROWS_PER_CELL * len(classes), _TALLEST))
    return colours(count, dark=dark)[classes[mercator_rows(region, len(classes), height=height)]]


def mercator_rows(region: Region, side: int, *, height: int) -> NDArray[np.int64]:
    """Returns (height,) which row of the grid, from the north, each row of pixels on a Mercator map shows."""
    latitudes = mercator_latitudes(region, height)
    rows = np.floor((region.north - latitudes) / (region.north - region.south) * side)
    return np.clip(rows, 0, side - 1).astype(np.int64)


def mercator_latitudes(region: Region, height: int) -> NDArray[np.float64]:
    """Returns (height,) degrees, from the north, in the middle of each row of pixels on a Mercator map."""
    south, north = bounds(region)[0][0], bounds(region)[1][0]
    top, bottom = mercator(north), mercator(south)
    centres = top + (bottom - top) * (np.arange(height) + 0.5) / height
    return np.degrees(np.arctan(np.sinh(centres)))


def mercator_height(region: Region) -> float:
    """Returns the height of the region on a Mercator map, in its widths."""
    (south, west), (north, east) = bounds(region)
    return (mercator(north) - mercator(south)) / float(np.radians(east - west))


def mercator(latitude: float) -> float:
    """Returns a latitude's distance from the equator (degrees, cut where web maps end) on a Mercator map,
    in radians of longitude."""
    return float(np.arcsinh(np.tan(np.radians(np.clip(latitude, -MERCATOR_LIMIT, MERCATOR_LIMIT)))))


def position(region: Region, *, lat: float, lon: float) -> tuple[float, float]:
    """Returns a point's place on a Mercator map of the region: shares of its width and, from the top,
    height."""
    across, down = positions(region, lat=np.array([lat]), lon=np.array([lon]))
    return float(across[0]), float(down[0])


def positions(
    region: Region, *, lat: NDArray[np.float64], lon: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the `position` of many points."""
    (south, west), (north, east) = bounds(region)
    top, bottom = mercator(north), mercator(south)
    latitudes = np.clip(lat, -MERCATOR_LIMIT, MERCATOR_LIMIT)
    return (lon - west) / (east - west), (top - np.arcsinh(np.tan(np.radians(latitudes)))) / (top - bottom)


def bounds(region: Region) -> list[list[float]]:
    """Returns [[south, west], [north, east]] in degrees, cut where web maps end."""
    south, north = np.clip([region.south, region.north], -MERCATOR_LIMIT, MERCATOR_LIMIT).tolist()
    return [[south, region.west], [north, region.east]]


def colours(count: int, *, dark: bool) -> NDArray[np.uint8]:
    """Returns (FIRST + count, 4) RGBA by class index; the ground shows through classes without a number."""
    table = np.zeros((FIRST + count, 4), np.uint8)
    for index, colour in enumerate((palette.dark if dark else palette.light)(count)):
        table[FIRST + index] = ImageColor.getcolor(colour, "RGBA")
    return table
