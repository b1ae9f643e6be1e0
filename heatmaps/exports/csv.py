"""Writes the map as a table of its cells."""

from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heatmaps.exports.content import Released
from heatmaps.exports.number_texts import lines, texts
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, morton_encode, paint

COLUMNS: Final = ("row", "col", "west", "south", "east", "north", "value", "standard_error")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """Writes a line a cell, row 0 in the north first, column 0 in the west; degrees and values to the last
    bit.

    Values sum to 1 as in `Heatmap.dense`; a region's value is spread evenly over its cells. Nineteen times in
    twenty a share is at most `WITHIN_ERRORS` standard errors from the truth; they are empty where none is
    known. Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    heatmap, region = released.heatmap, released.region
    values, errors = heatmap.dense(), _errors(heatmap)
    stream.write((",".join(COLUMNS) + "\r\n").encode())
    for block in _lines(values, errors, region, heatmap.level):
        stream.write(block)


def _errors(heatmap: Heatmap) -> NDArray[np.float64]:
    """Returns `(side, side)` standard errors in the unit of `dense`; nan where none is known.

    How the mass of a region lies in its cells nobody measured: only regions of one cell have an error.
    """
    side, total = 1 << heatmap.level, float(heatmap.values.sum())
    reach = WITHIN_ERRORS * heatmap.total_error
    least, most = heatmap.total - reach, heatmap.total + reach
    if not (total > 0 and least > 0):
        return np.full((side, side), np.nan)
    # A share is off by its mass and by the sum that it is a share of, which cutting to 0 made larger.
    grid = np.full((side, side), heatmap.cut_error / least)
    shares, (lows, highs) = heatmap.values / total, heatmap.intervals()
    errors = np.maximum(shares - lows / most, highs / least - shares) / WITHIN_ERRORS
    errors[heatmap.levels < heatmap.level] = np.nan
    paint(grid, heatmap.levels, heatmap.prefixes, errors)
    return grid


def _lines(
    values: NDArray[np.float64], errors: NDArray[np.float64], region: Region, level: int
) -> Iterator[bytes]:
    """Yields the lines of one row of the grid at a time."""
    columns = np.arange(1 << level)
    west, _, east, _ = region.cell_bounds(level, morton_encode(columns, np.zeros_like(columns), level))
    _, south, _, north = region.cell_bounds(level, morton_encode(np.zeros_like(columns), columns, level))
    column_texts = pa.array([f"{column},{left!r}" for column, left in enumerate(west.tolist())])
    rights = pa.array(list(map(repr, east.tolist())))
    heights = list(zip(south.tolist(), north.tolist(), strict=True))[::-1]  # rows count from the north
    for row, (low, high) in enumerate(heights):
        cells = (texts(values[row], missing=""), texts(errors[row], missing=""))
        yield lines(str(row), column_texts, repr(low), rights, repr(high), *cells, between=",", after="\r\n")
