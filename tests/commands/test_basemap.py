"""`manage.py basemap`: a file of street tiles from an extract, whole or not at all."""

import gzip
import io
import time

import pytest
from django.core.management import CommandError, call_command

from heatmaps.config.settings import BASE_DIR
from heatmaps.management.commands import basemap
from heatmaps.maps.pmtiles import Archive, tile_number
from tests.maps.streets.helsinki import BBOX, BOX, Extract, made
from tests.services.programs import found_or_skip

EAST, NORTH = 9327, 4741  # the tile of zoom 14 that the station square lies in


def refusal(*arguments, **options):
    with pytest.raises(CommandError) as caught:
        call_command("basemap", *arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("bbox", "named"),
    [("1,2,3", "bbox is 1,2,3"), ("3,0,2,1", "east is 2.0"), ("0,0,1,91", "north is 91.0")],
)
def test_a_box_is_refused_by_what_is_wrong_with_it(bbox, named, tmp_path):
    assert named in refusal("x.osm.pbf", bbox=bbox, output=tmp_path / "x.pmtiles")


def test_another_suffix_is_refused(tmp_path):
    assert "ends in .pmtiles" in refusal("x.osm.pbf", bbox=BBOX, output=tmp_path / "x.mbtiles")


def test_it_says_how_to_install_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(basemap, "_MISSING", "osmium")
    said = refusal("x.osm.pbf", bbox=BBOX, output=tmp_path / "x.pmtiles")
    assert said == f"the package osmium is not installed; {basemap.INSTALL}"
    assert "setup-basemap:" in (BASE_DIR / "Makefile").read_text()


@pytest.fixture(scope="module")
def helsinki(tmp_path_factory):
    """The file, what was said, and the seconds it took."""
    out, began = io.StringIO(), time.monotonic()
    path = made(tmp_path_factory.mktemp("basemap"), stdout=out)
    return path, out.getvalue(), time.monotonic() - began


def layers_of(path, zoom, x, y):
    """Kinds and names, by layer, as another library reads them."""
    import mapbox_vector_tile
    from pmtiles.reader import MmapSource, Reader

    with path.open("rb") as file:
        content = Reader(MmapSource(file)).get(zoom, x, y)
    assert content == Archive.open(path).tile(zoom, x, y)
    decoded = mapbox_vector_tile.decode(gzip.decompress(content))
    return {
        name: [
            (feature["properties"]["kind"], feature["properties"].get("name"))
            for feature in layer["features"]
        ]
        for name, layer in decoded.items()
    }


@pytest.mark.long
def test_a_city_gets_streets_water_parks_buildings_and_names(helsinki):
    path, said, seconds = helsinki
    fine = layers_of(path, 14, EAST, NORTH)
    kinds = {kind for kind, _ in fine["roads"]}
    assert {"major_road", "minor_road", "path", "rail"} <= kinds
    assert ("major_road", "Mannerheimintie") in layers_of(path, 14, EAST - 1, NORTH + 1)["roads"]
    assert {"park"} <= {kind for kind, _ in fine["landuse"]}
    assert len(fine["buildings"]) > 50
    assert ("neighbourhood", "Hakaniemi") in fine["places"]
    coarse = layers_of(path, 10, EAST >> 4, NORTH >> 4)
    assert {kind for kind, _ in coarse["roads"]} <= {"major_road", "highway", "rail"}
    assert "buildings" not in coarse
    assert "3," in said  # thousands of things
    assert str(path) in said
    assert path.stat().st_size < 300_000
    assert seconds < 60


@pytest.mark.long
def test_its_header_says_what_it_covers(helsinki):
    archive = Archive.open(helsinki[0])
    assert archive.bounds == pytest.approx(BOX, abs=1e-6)
    assert (archive.kind, archive.zooms[1]) == ("mvt", 14)
    assert archive.metadata["attribution"] == "© OpenStreetMap contributors (ODbL)"
    assert helsinki[0].stat().st_mode & 0o777 == 0o644
    from pmtiles.tile import zxy_to_tileid

    for tile in ((0, 0, 0), (14, EAST, NORTH), (26, 2**26 - 1, 12345)):
        assert tile_number(*tile) == zxy_to_tileid(*tile)


@pytest.mark.long
def test_what_fails_leaves_the_file_that_was_there(helsinki, tmp_path, monkeypatch):
    found_or_skip(Extract)
    from heatmaps.maps.streets import making

    output = tmp_path / "city.pmtiles"
    output.write_bytes(b"as it was")
    assert "bbox is 1.0,1.0,2.0,2.0" in refusal(Extract.path(), bbox="1,1,2,2", output=output)
    assert "OpenStreetMap extract" in refusal(BASE_DIR / "README.md", bbox=BBOX, output=output)
    assert "that is there" in refusal(tmp_path / "none.osm.pbf", bbox=BBOX, output=output)
    monkeypatch.setattr(making.Writer, "write_tile", broken)
    with pytest.raises(ZeroDivisionError):
        call_command("basemap", Extract.path(), bbox=BBOX, output=output)
    assert output.read_bytes() == b"as it was"
    assert list(tmp_path.iterdir()) == [output]


def broken(*_):
    raise ZeroDivisionError


@pytest.mark.long
def test_land_lies_to_the_left_of_a_coast():
    found_or_skip(Extract)
    import shapely

    from heatmaps.maps.streets.extract import sea_by_coast, sea_by_rings
    from mechanisms.space.grid import Region

    region = Region(0, 0, 1, 1)
    north = shapely.LineString([(0.4, -0.1), (0.4, 1.1)])
    island = shapely.LineString([(0.6, 0.3), (0.8, 0.3), (0.8, 0.5), (0.6, 0.5), (0.6, 0.3)])
    assert sea_by_coast(region, [north, island]).area == pytest.approx(0.6 - 0.04)
    assert sea_by_coast(region, [shapely.LineString([(0.4, -0.1), (0.4, 0.6)])]) is None
    assert sea_by_coast(region, []) is None
    rings = [shapely.get_coordinates(shapely.box(*box)) for box in ((0.5, -1, 2, 2), (0.6, 0.3, 0.8, 0.5))]
    assert sea_by_rings(region, rings).area == pytest.approx(0.5 - 0.04)
