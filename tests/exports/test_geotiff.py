"""GeoTIFF: read back by the library that everybody reads it with, beside the array of the same map."""

import io
import json

import numpy as np
import pytest
from rasterio.io import MemoryFile

from tests.exports.examples import OCEAN, make_released, written


@pytest.fixture
def raster():
    with MemoryFile(written(".tif", make_released())) as file, file.open() as opened:
        yield opened


def test_it_has_the_array_cell_by_cell(raster):
    dense = np.load(io.BytesIO(written(".npy", make_released())))
    assert raster.count == 1
    assert raster.dtypes == ("float64",)
    assert (raster.read(1) == dense).all()
    assert raster.read(1)[0, 7] == dense.max()  # the north-east corner, the densest


@pytest.mark.parametrize("level", [3, 10])
def test_it_lies_on_the_region_with_the_north_up(level):
    with MemoryFile(written(".tif", make_released(level=level))) as file, file.open() as raster:
        assert raster.crs.to_epsg() == 4326
        assert tuple(raster.bounds) == pytest.approx(tuple(OCEAN), abs=1e-12)
        assert raster.transform.e < 0 < raster.transform.a
        assert (raster.transform.b, raster.transform.d) == (0, 0)
        assert raster.shape == (2**level, 2**level)


def test_it_finds_a_place_by_its_coordinates(raster):
    row, column = raster.index(-38.01, 22.99)
    assert (row, column) == (0, 7)
    assert raster.index(-39.99, 20.01) == (7, 0)


def test_it_carries_the_release_sheet_in_its_tags(raster):
    tags, sheet = raster.tags(), make_released().sheet
    assert {key: tags[key] for key in ("epsilon", "delta", "relation", "mechanism", "released")} == {
        "epsilon": "0.5",
        "delta": "0",
        "relation": "add_remove",
        "mechanism": "sparse-emd",
        "released": "2026-11-20",
    }
    for key, value in sheet.items():
        assert (tags[key] if isinstance(value, str) else json.loads(tags[key])) == value
    assert tags["TIFFTAG_IMAGEDESCRIPTION"] == "Fish & ships, Ünïté. ε = 0.5 (presence), δ = 0"
    assert raster.descriptions == ("share of the map in a cell",)


def test_it_says_nothing_beyond_the_sheet(raster):
    known = set(make_released().sheet) | {"AREA_OR_POINT"}
    own = {key for key in raster.tags() if not key.startswith("TIFFTAG_")}
    assert own == known
    assert raster.tags()["TIFFTAG_DATETIME"] == "2026:11:20 00:00:00"
    assert written(".tif", make_released()) == written(".tif", make_released())


@pytest.mark.parametrize("title", ['<a href="x">&amp;</a>]]>', "line\nbreak\x0b\x00", "長い" * 60])
def test_it_keeps_any_title_readable(title):
    released = make_released(title=title)
    with MemoryFile(written(".tif", released)) as file, file.open() as raster:
        assert raster.tags()["title"] == released.title


def test_it_writes_a_map_without_mass_as_uniform():
    with MemoryFile(written(".tif", make_released({}))) as file, file.open() as raster:
        assert (raster.read(1) == 1 / 64).all()
