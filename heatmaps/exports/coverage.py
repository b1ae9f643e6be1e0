"""Cuts a part out of a map's raster."""

import math
from typing import Any, BinaryIO, Final

import rasterio
from rasterio.io import MemoryFile
from rasterio.windows import Window

from mechanisms.check import ParameterError

Box = tuple[float, float, float, float]  # west, south, east, north in degrees

MOST_CELLS: Final = 1 << 20  # of a part; of the whole file, programs read parts by themselves
_STEP: Final = 1e-6  # of a cell: what rounding may move an edge


def part_of(stream: BinaryIO, box: Box) -> bytes:
    """Cuts a GeoTIFF of the cells that a box touches, with the tags of the whole; empty where there are none.

    Errors: `ParameterError` naming `bbox` where they are too many.
    """
    with rasterio.open(stream) as raster:
        window = _window(raster, box)
        if window is None:
            return b""
        if window.width * window.height > MOST_CELLS:
            raise ParameterError("bbox", f"of {window.width} by {window.height} cells", f"{MOST_CELLS} cells")
        shape = {"width": window.width, "height": window.height, "transform": raster.window_transform(window)}
        profile = {name: raster.profile[name] for name in ("count", "dtype", "crs")}
        with MemoryFile() as file:
            with file.open(driver="GTiff", compress="deflate", predictor=3, **profile, **shape) as part:
                part.update_tags(**raster.tags())
                part.set_band_description(1, raster.descriptions[0])
                part.write(raster.read(1, window=window), 1)
            return bytes(file.read())


def _window(raster: Any, box: Box) -> Window | None:
    """Returns a window of whole cells; None where the box is outside."""
    left, bottom, right, top = raster.bounds
    across, down = (right - left) / raster.width, (top - bottom) / raster.height
    columns = _cells((box[0] - left) / across, (box[2] - left) / across, raster.width)
    rows = _cells((top - box[3]) / down, (top - box[1]) / down, raster.height)
    if columns[0] >= columns[1] or rows[0] >= rows[1]:
        return None
    return Window(columns[0], rows[0], columns[1] - columns[0], rows[1] - rows[0])


def _cells(low: float, high: float, count: int) -> tuple[int, int]:
    """Returns the first cell, and the one after the last; of a line between two cells, the one behind it."""
    first, end = max(low, 0.0), min(high, float(count))
    if first > end:
        return 0, 0
    if low == high:
        cell = min(math.floor(first + _STEP), count - 1)
        return cell, cell + 1
    return math.floor(first + _STEP), math.ceil(end - _STEP)
