"""The map as a table of its cells."""

import math
from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.exports.released import Released
from mechanisms.grid import Region, morton_decode, morton_encode
from mechanisms.interface import Heatmap

COLUMNS: Final = ("row", "col", "west", "south", "east", "north", "value", "standard_error")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """A line a cell, row 0 in the north first, column 0 in the west; degrees and values to the last bit.

    Values sum to 1 as in `Heatmap.dense`; a region's value and standard error are spread evenly over its
    cells. Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    heatmap, region = released.heatmap, released.region
    values, errors = heatmap.dense(), _errors(heatmap)
    stream.write((",".join(COLUMNS) + "\r\n").encode())
    for lines in _lines(values, errors, region, heatmap.level):
        stream.write(lines.encode())


def _errors(heatmap: Heatmap) -> NDArray[np.float64]:
    """`(side, side)` standard errors in the unit of `dense`; nan where none is stated."""
    side, total = 1 << heatmap.level, heatmap.values.sum()
    grid = np.full((side, side), np.nan)
    if not total > 0:
        return grid
    for level in np.unique(heatmap.levels[np.isfinite(heatmap.standard_errors)]).tolist():
        chosen = heatmap.levels == level
        across, block = 1 << level, 1 << (heatmap.level - level)
        x, y = morton_decode(heatmap.prefixes[chosen], level)
        each = heatmap.standard_errors[chosen] / total / block**2
        grid.reshape(across, block, across, block)[across - 1 - y, :, x, :] = each[:, None, None]
    return grid


def _lines(
    values: NDArray[np.float64], errors: NDArray[np.float64], region: Region, level: int
) -> Iterator[str]:
    """The lines of one row of the grid at a time."""
    columns = np.arange(1 << level)
    west, _, east, _ = region.cell_bounds(level, morton_encode(columns, np.zeros_like(columns), level))
    _, south, _, north = region.cell_bounds(level, morton_encode(np.zeros_like(columns), columns, level))
    sides = list(zip(west.tolist(), east.tolist(), strict=True))
    heights = list(zip(south.tolist(), north.tolist(), strict=True))[::-1]  # rows count from the north
    for row, (low, high) in enumerate(heights):
        cells = zip(sides, values[row].tolist(), errors[row].tolist(), strict=True)
        yield "".join(
            f"{row},{column},{left!r},{low!r},{right!r},{high!r},{value!r},{_stated(error)}\r\n"
            for column, ((left, right), value, error) in enumerate(cells)
        )


def _stated(error: float) -> str:
    return "" if math.isnan(error) else repr(error)
