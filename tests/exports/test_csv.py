"""A table of squares says as much as one of every cell, and neither needs the grid in memory."""

import csv
import io
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from heatmaps.exports import Released, format_of
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.space.grid import Region
from tests.mechanisms.results.test_dense_rows import made_of, quadtree

REGION = Region(-98.3, 29.8, -97.3, 31.0)
PLACE = ("west", "south", "east", "north")


def released(heatmap):
    return Released(result=heatmap, region=REGION, sheet={})


def table(suffix, heatmap):
    stream = io.BytesIO()
    format_of(suffix).write(released(heatmap), stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode(), newline="")))


def cells_of(squares, level):
    """What a reader makes of a table of squares: values and errors of cells."""
    values, errors = np.zeros((1 << level, 1 << level)), np.full((1 << level, 1 << level), "", object)
    for square in squares:
        if not square["row"]:
            errors[:] = square["standard_error"]
    for square in squares:
        if square["row"]:
            row, column, side = (int(square[name]) for name in ("row", "col", "cells"))
            at = slice(row, row + side), slice(column, column + side)
            values[at] = float(square["value"]) / side**2
            errors[at] = square["standard_error"] if side == 1 else ""
    return values, errors


@pytest.mark.parametrize("level", [1, 4, 7, 9])
def test_squares_say_what_cells_say(level):
    heatmap = quadtree(level, seed=level)
    heatmap = replace(
        heatmap,
        standard_errors=np.where(heatmap.values > 1, 0.5, np.nan),
        total=float(heatmap.values.sum()) + 1,
        total_error=0.1,
        cut_error=0.25,
    )
    squares = table(".csv", heatmap)

    values, errors = cells_of(squares, level)

    assert values.tobytes() == heatmap.dense().tobytes()
    assert math.fsum(float(square["value"]) for square in squares) == pytest.approx(1, abs=1e-12)
    cells = table(".cells.csv", heatmap)
    assert [float(cell["value"]) for cell in cells] == values.ravel().tolist()
    assert [cell["standard_error"] for cell in cells] == errors.ravel().tolist()


def test_a_square_is_where_its_cells_are():
    heatmap = quadtree(5, seed=3)
    bounds = {
        (int(cell["row"]), int(cell["col"])): [float(cell[side]) for side in PLACE]
        for cell in table(".cells.csv", heatmap)
    }
    for square in table(".csv", heatmap):
        row, column, side = (int(square[name]) for name in ("row", "col", "cells"))
        (west, _, _, north), (_, south, east, _) = (
            bounds[row, column],
            bounds[row + side - 1, column + side - 1],
        )
        assert [float(square[side]) for side in PLACE] == [west, south, east, north]


def test_a_square_states_the_error_of_its_share():
    heatmap = made_of(3, (1, 0, 4, 1), (3, 63, 4, np.nan))
    heatmap = replace(heatmap, total=8.0, total_error=0.5)
    whole, single = table(".csv", heatmap)
    reach = WITHIN_ERRORS * 0.5
    error = ((4 + WITHIN_ERRORS) / (8 - reach) - 4 / 8) / WITHIN_ERRORS
    assert float(whole["standard_error"]) == pytest.approx(error)
    assert single["standard_error"] == ""


@pytest.mark.parametrize("regions", [[], [(1, 2, 0, 1)]])
def test_a_map_of_nothing_is_one_square(regions):
    heatmap = made_of(3, *regions)
    squares = table(".csv", heatmap)
    assert cells_of(squares, 3)[0].tobytes() == heatmap.dense().tobytes()
    assert [float(squares[0][side]) for side in PLACE] == list(REGION)


def test_squares_have_no_finest_grid():
    heatmap = made_of(20, (1, 2, 3, 1), (20, 0, 1, 1))
    squares = table(".csv", heatmap)
    assert [(square["row"], square["col"], square["cells"]) for square in squares] == [
        (str(2**20 - 1), "0", "1"),
        ("0", "0", str(2**19)),
    ]
    assert [square["value"] for square in squares] == ["0.25", "0.75"]


@pytest.mark.parametrize("suffix", [".csv", ".cells.csv"])
def test_fine_maps_are_written_in_little_memory(suffix):
    """A grid of float64 of this map takes 32 MB, its table 400 MB."""
    heatmap = quadtree(11, seed=5)
    assert heatmap.values.size < 10_000
    pool = pa.default_memory_pool()
    arrow_before = pool.bytes_allocated()

    class Sink(io.RawIOBase):
        most_arrow = 0

        def write(self, block):
            self.most_arrow = max(self.most_arrow, pool.bytes_allocated() - arrow_before)
            return len(block)

    sink = Sink()
    tracemalloc.start()
    try:
        format_of(suffix).write(released(heatmap), sink)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most + sink.most_arrow < 16_000_000
