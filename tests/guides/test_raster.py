"""GeoTIFFs as guides: shares by area, and a readable line for everything that is wrong."""

import hashlib
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from rasterio.crs import CRS
from rasterio.transform import Affine
from rasterio.warp import transform, transform_bounds

from heatmaps.children import process
from heatmaps.guides import raster as rasters
from heatmaps.guides.raster_child import guide_of
from mechanisms.check import ParameterError
from mechanisms.guide import WHOLE
from mechanisms.space.grid import Region
from tests.exports.examples import OCEAN, make_released, written
from tests.guides.rasters import CITY, raster, sparse

UTM = "EPSG:32614"
SQUARE = np.random.default_rng(3).random((64, 64))


def shares(content, region=CITY):
    return guide_of(content, region)[0].shares.reshape(64, 64) / WHOLE


def refusal(content, region=CITY):
    with pytest.raises(ParameterError) as caught:
        guide_of(content, region)
    assert caught.value.parameter == "guide"
    return str(caught.value)


def blocks(values):
    side = len(values) // 64
    return values.reshape(64, side, 64, side).sum((1, 3)) / values.sum()


# --- shares --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"tiled": True, "blockxsize": 16, "blockysize": 32}])
def test_it_adds_pixels_up_by_cell(options):
    fine = np.random.default_rng(4).random((192, 192)).astype(np.float32)
    assert shares(raster(fine, compress="lzw", **options)) == pytest.approx(blocks(fine), abs=1e-8)


def test_parts_of_a_large_raster_add_up(monkeypatch):
    monkeypatch.setattr("heatmaps.guides.cell_sums.AT_ONCE", 5000)
    fine = np.random.default_rng(4).random((192, 192))
    tiled = raster(fine, tiled=True, blockxsize=16, blockysize=16)
    assert shares(tiled) == pytest.approx(blocks(fine), abs=1e-8)
    projected = raster(fine, bounds=transform_bounds("EPSG:4326", UTM, *CITY), crs=UTM)
    in_parts = shares(projected)
    monkeypatch.undo()
    assert in_parts == pytest.approx(shares(projected), abs=1e-8)


def test_a_pixel_that_edges_cut_is_shared_by_area():
    coarse = np.array([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    found = shares(raster(coarse))
    part = np.clip(np.minimum(np.arange(1, 65), 128 / 3) - np.maximum(np.arange(64), 64 / 3), 0, None)
    assert found == pytest.approx(np.outer(part, part) * (3 / 64) ** 2, abs=1e-8)


def test_it_takes_our_own_maps():
    released = make_released()
    found = shares(written(".tif", released), OCEAN)
    assert found == pytest.approx(np.kron(released.heatmap.dense() / 64, np.ones((8, 8))), abs=1e-8)


def test_only_what_is_in_the_region_counts():
    wide = raster(np.kron([[9.0, 9, 9], [9, 1, 9], [9, 9, 9]], SQUARE), bounds=(-99.3, 28.6, -96.3, 32.2))
    assert shares(wide) == pytest.approx(SQUARE / SQUARE.sum(), abs=1e-8)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        (SQUARE[::-1], Affine(1 / 64, 0, CITY.west, 0, 1.2 / 64, CITY.south)),
        (SQUARE[:, ::-1], Affine(-1 / 64, 0, CITY.east, 0, -1.2 / 64, CITY.north)),
        (SQUARE, Affine(1 / 64, 0, CITY.west + 360, 0, -1.2 / 64, CITY.north)),
    ],
    ids=["south up", "east first", "0 to 360"],
)
def test_it_reads_rasters_in_any_direction(values, place):
    assert shares(raster(values, place=place)) == pytest.approx(SQUARE / SQUARE.sum(), abs=1e-8)


@pytest.mark.parametrize("crs", [UTM, "EPSG:3857", "ESRI:54009", "EPSG:4269"])
@pytest.mark.parametrize("south_up", [False, True])
def test_projected_people_stay_where_they_are(crs, south_up):
    west, south, east, north = transform_bounds("EPSG:4326", crs, *CITY)
    high = np.zeros((500, 500))
    high[260, 140] = 1
    place = Affine((east - west) / 500, 0, west, 0, (south - north) / 500, north)
    if south_up:
        place, high = Affine(place.a, 0, west, 0, -place.e, south), high[::-1]
    centre = (west + (east - west) * 140.5 / 500, north + (south - north) * 260.5 / 500)
    lon, lat, _, _ = transform_bounds(crs, "EPSG:4326", *centre, *centre)
    found = shares(raster(high, place=place, crs=crs))
    row, column = int((CITY.north - lat) / 1.2 * 64), int((lon - CITY.west) * 64)
    assert found.sum() == pytest.approx(1, abs=1e-5)
    assert found[row - 1 : row + 2, column - 1 : column + 2].sum() == pytest.approx(1, abs=1e-5)
    assert found[row, column] > 0.2


def test_large_projected_pixels_are_shared_by_area():
    bounds = transform_bounds("EPSG:4326", UTM, *CITY)
    found = shares(raster(np.ones((7, 7)), bounds=bounds, crs=UTM)) * 64**2
    assert found[2:-2, 2:-2] == pytest.approx(1, abs=0.05)


def test_people_beyond_the_pole_stay_there():
    arctic, side, most = Region(-120, 70, 120, 85), 400, 2.2e6
    place = Affine(2 * most / side, 0, -most, 0, -2 * most / side, most)
    x, y = transform("EPSG:4326", "EPSG:3413", [180.0, 0.0], [82.0, 75.0])
    (behind, here) = (
        (int((most - b) / place.a), int((a + most) / place.a)) for a, b in zip(x, y, strict=True)
    )
    values = np.zeros((side, side))
    values[behind[0] - 2 : behind[0] + 3, behind[1] - 2 : behind[1] + 3] = 1  # where longitudes jump
    assert "a value above 0" in refusal(raster(values, place=place, crs="EPSG:3413"), arctic)
    values[here] = 1
    found = shares(raster(values, place=place, crs="EPSG:3413"), arctic)
    assert found[41:45, 31:33].sum() == pytest.approx(1, abs=1e-5)


def test_a_region_ends_at_the_antimeridian_and_its_raster_does_not():
    fiji, crs = Region(178, -18, 180, -17), "EPSG:3460"
    west, south, east, north = transform_bounds("EPSG:4326", crs, *fiji)
    beyond = (west, south, east + 50_000, north)
    columns = shares(raster(np.ones((640, 640)), bounds=beyond, crs=crs), fiji).sum(axis=0) * 64
    assert columns[-1] == pytest.approx(columns[-2], rel=0.08)


def test_no_data_are_0():
    holes = SQUARE.astype(np.float32)
    holes[0, 0], holes[5, 7] = np.nan, -9999
    found = shares(raster(holes, nodata=-9999))
    assert found[0, 0] == found[5, 7] == 0
    assert found[1, 1] == pytest.approx(SQUARE[1, 1] / (SQUARE.sum() - SQUARE[0, 0] - SQUARE[5, 7]), rel=1e-4)


def test_the_first_band_counts():
    assert shares(raster(SQUARE, bands=3)) == pytest.approx(SQUARE / SQUARE.sum(), abs=1e-8)


# --- what is wrong -------------------------------------------------------------------------------------


def changed(row, column, value):
    values = SQUARE.copy()
    values[row, column] = value
    return values


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (raster(changed(1, 2, -1)), "finite values of at least 0"),
        (raster(changed(1, 2, np.inf)), "finite values of at least 0"),
        (raster(SQUARE, crs=None), "a coordinate system and a transform"),
        (raster(SQUARE, place=Affine.identity()), "a coordinate system and a transform"),
        (raster(SQUARE, place=Affine(0.01, 0.002, -98.3, 0.002, -0.01, 31)), "a rotated raster"),
        (raster(SQUARE, bounds=(0, 0, 1, 1)), "overlaps the region"),
        (raster(SQUARE, bounds=(0, 0, 1000, 1000), crs=UTM), "overlaps the region"),
        (raster(SQUARE * 0), "a value above 0 in the region"),
        (raster(SQUARE.astype(np.complex64)), "whole or floating point numbers"),
        (raster(np.ones((2, 2)), bounds=(5e5, 3e6, 9e5, 3.9e6), crs=UTM), "at least 4 pixels"),
        (raster(SQUARE, compress="lzw")[:-900], "whole"),
        (raster(SQUARE)[:100], "whole"),
        (b'<VRTDataset rasterXSize="1" rasterYSize="1"></VRTDataset>', "whole"),
    ],
)
def test_it_refuses_what_is_no_map_of_people(content, words):
    assert words in refusal(content)


def test_it_refuses_more_pixels_than_it_reads(tmp_path):
    many = sparse(tmp_path / "many.tif", 20_000, dtype="uint8").read_bytes()
    assert "20000 by 20000 pixels, allowed: at most 134217728" in refusal(many).replace("'", "")


# --- the child -----------------------------------------------------------------------------------------


@pytest.fixture
def city(tmp_path):
    path = tmp_path / "city.tif"
    path.write_bytes(raster(SQUARE, compress="deflate"))
    return path


@pytest.mark.parametrize("crs", ["EPSG:4326", "ESRI:54009"])
def test_a_file_is_read_in_a_child(tmp_path, crs):
    bounds = transform_bounds("EPSG:4326", crs, *CITY)
    content = raster(SQUARE, bounds=bounds, crs=crs)
    (tmp_path / "city.tif").write_bytes(content)
    found = rasters.read(tmp_path / "city.tif", CITY)
    assert (found.guide, found.sheet) == guide_of(content, CITY)
    assert found.file_sha256 == hashlib.sha256(content).hexdigest()


def test_a_file_is_read_with_nothing_beside_it_and_nothing_that_it_names(city):
    alone = rasters.guide_from_raster(city, CITY)
    elsewhere = city.with_name("elsewhere.vrt")
    city.write_bytes(raster(SQUARE, tags={"OVERVIEWS": {"OVERVIEW_FILE": str(elsewhere)}}))
    other = raster(SQUARE[::-1])
    for suffix in (".ovr", ".msk"):
        city.with_name(f"city.tif{suffix}").write_bytes(other)
    city.with_name("city.tif.aux.xml").write_text(
        '<PAMDataset><PAMRasterBand band="1"><NoDataValue>0.5</NoDataValue><Offset>9</Offset>'
        "</PAMRasterBand></PAMDataset>"
    )
    city.with_name("city.tfw").write_text("1\n0\n0\n-1\n0\n0\n")
    os.mkfifo(elsewhere)  # opening it would wait
    assert rasters.guide_from_raster(city, CITY) == alone


def test_the_child_opens_no_other_file(tmp_path):
    program = "from heatmaps.guides import raster_child as c; c._open_no_more_files(); open('/dev/null')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Too many open files" in done.stderr


def test_a_refusal_of_the_child_is_told(city):
    with pytest.raises(ParameterError, match="'a raster of another place', allowed: one that overlaps"):
        rasters.guide_from_raster(city, Region(0, 0, 1, 1))


def test_a_file_that_takes_too_much_memory_is_refused(tmp_path):
    bomb = sparse(
        tmp_path / "bomb.tif", 11_000, dtype="float64", tiled=True, blockxsize=11_008, blockysize=11_008
    )
    assert bomb.stat().st_size < 10_000
    with pytest.raises(ParameterError, match="memory"):
        rasters.guide_from_raster(bomb, CITY)


def test_a_child_that_dies_is_a_readable_error(city, monkeypatch):
    monkeypatch.setattr(process, "finished", lambda *_, **__: -11)
    with pytest.raises(ParameterError, match=r"city.tif, allowed: a GeoTIFF of at most 64 MiB"):
        rasters.guide_from_raster(city, CITY)


@pytest.mark.parametrize(
    "name", ["away.tif", "", "/dev/zero", "/vsimem/city.tif", "https://localhost/city.tif", "pipe"]
)
def test_it_reads_files_of_this_machine_alone(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="the path of a GeoTIFF on this machine"):
        rasters.guide_from_raster(tmp_path / name, CITY)


@pytest.mark.parametrize("content", [b"", b"II", b"<VRTDataset/>", b"II*\0" + b"\0" * 2**26])
def test_what_is_no_geotiff_of_bounded_size_starts_no_child(tmp_path, monkeypatch, content):
    monkeypatch.setattr(process, "finished", None)
    (tmp_path / "city.tif").write_bytes(content)
    with pytest.raises(ParameterError, match="a GeoTIFF of at most 64 MiB"):
        rasters.guide_from_raster(tmp_path / "city.tif", CITY)


@pytest.mark.parametrize(
    "odd",
    [
        {"crs": CRS.from_wkt('LOCAL_CS["a hall",UNIT["metre",1]]')},
        {"bounds": (1e300, 1e300, 1.1e300, 1.1e300)},
    ],
)
def test_odd_files_are_refused_as_what_they_are(tmp_path, odd):
    (tmp_path / "city.tif").write_bytes(raster(SQUARE, **odd))
    with pytest.raises(ParameterError) as refused:
        rasters.guide_from_raster(tmp_path / "city.tif", CITY)
    assert "60 seconds" not in refused.value.allowed


def test_bytes_that_were_changed_are_shares_or_a_refusal():
    rng, bases = np.random.default_rng(5), [raster(SQUARE, compress="lzw"), raster(SQUARE, crs=UTM)]
    for number in range(60):
        content = bytearray(bases[number % 2])
        for where in rng.integers(4, 600, 4):
            content[where] = rng.integers(256)
        with suppress(ParameterError):
            assert guide_of(bytes(content), CITY)[0].shares.any()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[" * 60_000,
        b"[]",
        b"{}",
        b'{"refused": 1}',
        b'{"sheet": 7}',
        b'{"sheet": null}\n1',
        b'{"sheet": {}}',
    ],
)
def test_what_no_child_of_ours_answers_refuses_the_file(monkeypatch, tmp_path, answer):
    def taken_over(_module, _sent, _limits, *, files, **_options):
        os.write(files[1], answer + b"\n")
        return 0

    (path := tmp_path / "guide.tif").write_bytes(b"II*\0")
    monkeypatch.setattr(process, "finished", taken_over)
    with pytest.raises(ParameterError, match="GeoTIFF"):
        rasters.read(path, CITY)
