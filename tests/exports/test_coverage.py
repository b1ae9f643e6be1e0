"""A part of a raster has the values of the whole, where they lie."""

import io

import numpy as np
import pytest
from rasterio.io import MemoryFile

from heatmaps.exports import coverage
from mechanisms.check import ParameterError
from tests.exports.examples import OCEAN, make_released, written


@pytest.fixture
def whole():
    return io.BytesIO(written(".tif", make_released()))


def test_it_has_the_cells_that_a_box_touches(whole):
    with MemoryFile(whole.getvalue()) as file, file.open() as raster:
        dense, tags = raster.read(1), raster.tags()
    # Cells are a quarter of a degree wide and three eighths high.
    with MemoryFile(coverage.part_of(whole, (-39.7, 21.2, -39.0, 22.0))) as file, file.open() as part:
        assert (part.read(1) == dense[2:5, 1:4]).all()
        assert tuple(part.bounds) == pytest.approx((-39.75, 21.125, -39.0, 22.25))
        assert part.tags() == tags
        assert part.crs.to_epsg() == 4326
    assert dense[2:5, 1:4].std() > 0


def test_more_than_everything_is_everything(whole):
    with MemoryFile(coverage.part_of(whole, (-180, -90, 180, 90))) as file, file.open() as part:
        assert part.shape == (8, 8)
        assert tuple(part.bounds) == pytest.approx(tuple(OCEAN))


@pytest.mark.parametrize("box", [(0, 0, 1, 1), (-39, 30, -38, 31), (-38, 20, -37, 23)])
def test_outside_there_is_nothing(whole, box):
    assert coverage.part_of(whole, box) == b""


@pytest.mark.parametrize(
    ("box", "column", "row"),
    [
        ((-39.5, 22.25, -39.5, 22.25), 2, 2),  # a corner of four cells
        ((-39.4, 22.3, -39.4, 22.3), 2, 1),
        ((-40, 23, -40, 23), 0, 0),
        ((-38, 20, -38, 20), 7, 7),
    ],
)
def test_a_point_has_one_cell(whole, box, column, row):
    with MemoryFile(coverage.part_of(whole, box)) as file, file.open() as part:
        assert part.shape == (1, 1)
        west, north = -40 + column / 4, 23 - row * 3 / 8
        assert (part.bounds.left, part.bounds.top) == pytest.approx((west, north))


@pytest.mark.parametrize("far", [1e308, -1e308])
def test_no_distance_is_too_far(whole, far):
    for box in ((far, 20, far, 23), (-40, far, -38, far)):
        assert coverage.part_of(whole, box) == b""


def test_a_part_has_a_bound(whole, monkeypatch):
    monkeypatch.setattr(coverage, "MOST_CELLS", 8)
    assert coverage.part_of(whole, (-40, 20, -39.5, 21))
    with pytest.raises(ParameterError, match="allowed: 8 cells"):
        coverage.part_of(whole, (-40, 20, -39, 23))
    assert np.prod((2, 3)) < 8
