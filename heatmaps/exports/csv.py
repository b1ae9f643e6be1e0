"""Writes the map as a table of its squares, or of its cells."""

import math
from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heatmaps.exports.content import Released
from heatmaps.exports.geojson import AT_ONCE, square_bounds
from heatmaps.exports.number_texts import decimals, lines, texts
from mechanisms.error_bounds import WITHIN_ERRORS
from mechanisms.results.dense_rows import SquareRows, dense_total, masses
from mechanisms.results.heatmap import DENSE_SIDE_LIMIT, Heatmap
from mechanisms.space.grid import Region, morton_decode, morton_encode

COLUMNS: Final = ("row", "col", "west", "south", "east", "north", "value", "standard_error")
SQUARE_COLUMNS: Final = ("row", "col", "cells", *COLUMNS[2:])
_AFTER: Final = "\r\n"


def write_squares(released: Released, stream: BinaryIO) -> None:
    """Writes a line a released square, in the map's order; degrees and values to the last bit.

    `row` and `col` are of its north-western cell, as in `write_cells`, `cells` how many of them a side has.
    `value` is its share of the map: divided by its cells it is the value of each, as `write_cells` has it,
    bit for bit. Cells in no square have the value 0; where their error is known, a last line without a place
    says so of each of them. A map of nothing is one square, as it is uniform.
    Errors are those of `write_cells`, of whole squares. Any resolution: the file grows with the squares.
    """
    heatmap, region = released.heatmap, released.region
    stream.write(_line(SQUARE_COLUMNS))
    total = _total(heatmap)
    if not total > 0:
        stream.write(_line((0, 0, 1 << heatmap.level, *region, 1.0, "")))
        return
    errors, background = _errors(heatmap)
    for start in range(0, heatmap.values.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        levels = heatmap.levels[part]
        side = np.int64(1) << (heatmap.level - levels).astype(np.int64)
        # Squares that differ in size have codes of different lengths: those of their first cells.
        x, y = morton_decode(
            heatmap.prefixes[part] << 2 * (heatmap.level - levels.astype(np.int64)), heatmap.level
        )
        places = ((1 << heatmap.level) - y - side, x, side)
        edges = (texts(edge, missing="") for edge in square_bounds(released, part).T)
        values = decimals(heatmap.values[part] / total, missing="")
        columns = (*(pa.array(place).cast(pa.string()) for place in places), *edges, values)
        stream.write(lines(*columns, texts(errors[part], missing=""), between=",", after=_AFTER))
    covered = int((np.int64(1) << 2 * (heatmap.level - heatmap.levels.astype(np.int64))).sum())
    if covered < 1 << 2 * heatmap.level and not math.isnan(background):
        stream.write(_line(("", "", 1, "", "", "", "", 0.0, background)))


def write_cells(released: Released, stream: BinaryIO) -> None:
    """Writes a line a cell, row 0 in the north first, column 0 in the west; degrees and values to the last
    bit.

    Values sum to 1 as in `Heatmap.dense`; a region's value is spread evenly over its cells. Nineteen times in
    twenty a share is at most `WITHIN_ERRORS` standard errors from the truth; they are empty where none is
    known. Rows are painted one by one: in memory it takes what the map takes, and a row.
    Errors: `ParameterError` naming `resolution` above 4096 cells a side; nothing is written then.
    """
    heatmap, region = released.heatmap, released.region
    heatmap.check_dense()
    stream.write(_line(COLUMNS))
    for block in _cell_lines(heatmap, region):
        stream.write(block)


def _line(cells: tuple[object, ...]) -> bytes:
    return (",".join(map(str, cells)) + _AFTER).encode()


def _total(heatmap: Heatmap) -> float:
    """Returns the persons by which `Heatmap.dense` divides, where the grid is not too fine for it."""
    if 1 << heatmap.level > DENSE_SIDE_LIMIT:
        return float(heatmap.values.sum())
    return dense_total(heatmap, SquareRows.of(heatmap))


def _errors(heatmap: Heatmap) -> tuple[NDArray[np.float64], float]:
    """Returns `(k,)` standard errors of the squares in the unit of `dense`, and that of a cell in no square;
    nan where none is known."""
    total = float(heatmap.values.sum())
    reach = WITHIN_ERRORS * heatmap.total_error
    least, most = heatmap.total - reach, heatmap.total + reach
    if not (total > 0 and least > 0):
        return np.full(heatmap.values.size, np.nan), math.nan
    # A share is off by its mass and by the sum that it is a share of, which cutting to 0 made larger.
    shares, (lows, highs) = heatmap.values / total, heatmap.intervals()
    errors = np.maximum(shares - lows / most, highs / least - shares) / WITHIN_ERRORS
    return errors, heatmap.cut_error / least


def _cell_lines(heatmap: Heatmap, region: Region) -> Iterator[bytes]:
    """Yields the lines of one row of the grid at a time."""
    level, rows = heatmap.level, SquareRows.of(heatmap)
    columns = np.arange(1 << level)
    west, _, east, _ = region.cell_bounds(level, morton_encode(columns, np.zeros_like(columns), level))
    _, south, _, north = region.cell_bounds(level, morton_encode(np.zeros_like(columns), columns, level))
    column_texts = pa.array([f"{column},{left!r}" for column, left in enumerate(west.tolist())])
    rights = pa.array(list(map(repr, east.tolist())))
    heights = list(zip(south.tolist(), north.tolist(), strict=True))[::-1]  # rows count from the north
    total = dense_total(heatmap, rows)
    shares = masses(heatmap) / total if total > 0 else np.full(heatmap.values.size, 0.25**level)
    errors, background = _errors(heatmap)
    # How the mass of a region lies in its cells nobody measured: only regions of one cell have an error.
    errors[heatmap.levels < level] = np.nan
    for run in rows.runs():
        values = rows.paint(run.start, shares, 0.0 if total > 0 else 0.25**level)
        cells = texts(values, missing=""), texts(rows.paint(run.start, errors, background), missing="")
        for row in run:
            low, high = heights[row]
            yield lines(
                str(row), column_texts, repr(low), rights, repr(high), *cells, between=",", after=_AFTER
            )
