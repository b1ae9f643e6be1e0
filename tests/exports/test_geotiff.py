"""GeoTIFF: read back by the library that everybody reads it with, beside the array of the same map."""

import io
import json

import numpy as np
import pytest
import rasterio
from rasterio.io import MemoryFile
from rio_cogeo.cogeo import cog_validate

from tests.exports.examples import OCEAN, SQUARES, make_released, written


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


def test_it_is_cloud_optimized_and_its_overviews_are_means(tmp_path):
    """Programs read the part and the zoom that they show; values keep their unit at every zoom."""
    path = tmp_path / "map.tif"
    path.write_bytes(
        written(
            ".tif", make_released(SQUARES | {(10, 700, 1): (9.0, 1.0), (9, 7, 300): (3.0, 1.0)}, level=10)
        )
    )
    assert cog_validate(path, strict=True) == (True, [], [])
    with rasterio.open(path) as raster:
        dense, overviews = raster.read(1), raster.overviews(1)
        assert raster.profile["blockxsize"] == raster.profile["blockysize"] == 256
    assert overviews == [2, 4]
    for level, merged in enumerate(overviews):
        means = dense.reshape(1024 // merged, merged, -1, merged).mean(axis=(1, 3))
        with rasterio.open(path, overview_level=level) as overview:
            assert overview.read(1) == pytest.approx(means, rel=1e-14)


def test_a_small_map_is_cloud_optimized_too(tmp_path):
    path = tmp_path / "map.tif"
    path.write_bytes(written(".tif", make_released()))
    assert cog_validate(path, strict=True) == (True, [], [])
