"""GDAL, which QGIS reads with, on a running server: raster, tiles and features of a public map."""

import io
import json
import re
import urllib.request

import numpy as np
import pyogrio
import pytest
import rasterio
from PIL import Image
from rasterio.errors import RasterioIOError

from tests.manual.blocks import blocks

pytestmark = pytest.mark.long

HALF = 20037508.342789244  # metres from the middle of web Mercator to its edges
TILES = f"""<GDAL_WMS><Service name="TMS"><ServerUrl>PLACE/${{z}}/${{x}}/${{y}}.png</ServerUrl></Service>
<DataWindow><UpperLeftX>{-HALF}</UpperLeftX><UpperLeftY>{HALF}</UpperLeftY><LowerRightX>{HALF}</LowerRightX>
<LowerRightY>{-HALF}</LowerRightY><TileLevel>10</TileLevel><YOrigin>top</YOrigin></DataWindow>
<Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>4</BandsCount></GDAL_WMS>"""


class Shown:
    """A running server with one map that everybody may see."""

    def __init__(self, address, release, token):
        self.address, self.release, self.token = address, release, token
        self.raster = f"{address}/api/v1/releases/{release}/heatmap.tif"
        self.coverage = f"{address}/ogc/collections/{release}/coverage"
        self.bearer = {"Authorization": f"Bearer {token}"}

    def content(self, place, method="GET", body=None, **headers):
        request = urllib.request.Request(place, body, self.bearer | headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def let_everybody_see_it(self, public):
        place, body = f"{self.address}/api/v1/releases/{self.release}/", json.dumps({"public": public})
        self.content(place, "PATCH", body.encode(), **{"Content-Type": "application/json"})

    def array(self):
        return np.load(io.BytesIO(self.content(self.raster.replace(".tif", ".npy"))))


@pytest.fixture(scope="module")
def shown(world, tmp_path_factory):
    made = world.installation(tmp_path_factory.mktemp("gis"))
    told = made.script("map_release")
    with made.serving() as server:
        yield Shown(server.address, **told)


@pytest.fixture(autouse=True)
def no_copies():
    """GDAL keeps what it read of an address for the process."""
    quiet = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "CPL_VSIL_CURL_NON_CACHED": "/vsicurl/"}
    with rasterio.Env(**quiet):
        yield


def test_it_reads_the_raster_in_parts(shown):
    for place in (shown.raster, shown.coverage):
        with rasterio.open(f"/vsicurl/{place}") as raster:
            assert (raster.read(1) == shown.array()).all()
            assert raster.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
            assert tuple(raster.bounds) == (0, 0, 1, 1)
    with rasterio.open(f"/vsicurl/{shown.coverage}?bbox=0,0.5,0.25,1") as part:
        assert (part.read(1) == shown.array()[:32, :16]).all()


def test_it_shows_the_tiles_as_they_are(shown, tmp_path):
    source = tmp_path / "tiles.xml"
    source.write_text(TILES.replace("PLACE", f"{shown.address}/tiles/{shown.release}"))
    column, row = 512, 511  # the south-west of the map, where its people are
    with rasterio.open(source) as tiles:
        window = rasterio.windows.Window(256 * column, 256 * row, 256, 256)
        read = np.moveaxis(tiles.read(window=window), 0, -1)
    png = shown.content(f"{shown.address}/tiles/{shown.release}/10/{column}/{row}.png")
    assert (read == np.asarray(Image.open(io.BytesIO(png)))).all()
    assert read[..., 3].any()


def test_it_reads_the_features_page_by_page(shown):
    source = f"OAPIF:{shown.address}/ogc/"
    assert pyogrio.list_layers(source)[:, 0].tolist() == [shown.release]
    wanted = json.loads(shown.content(shown.raster.replace(".tif", ".geojson")))["features"]
    facts = pyogrio.read_info(source, layer=shown.release)
    assert facts["features"] == len(wanted)
    assert facts["crs"] == "EPSG:4326"
    assert len(wanted) > 1_000  # more than a page
    _, _, shapes, columns = pyogrio.raw.read(source, layer=shown.release)
    values = dict(zip(facts["fields"], columns, strict=True))
    for name in ("value", "low", "high"):
        assert values[name].tolist() == [one["properties"][name] for one in wanted], name
    assert len(shapes) == len(wanted)
    west = [one["geometry"]["coordinates"][0][0][0] < 0.2 for one in wanted]
    found = pyogrio.read_bounds(source, layer=shown.release, bbox=(0, 0, 0.2, 1))[0]
    assert len(found) == sum(west)


def test_what_the_guide_shows_works(shown, capsys):
    pieces = [block.text for block in blocks("how-to/gis.md") if block.language == "python"]
    for piece in pieces:
        text = re.sub(r"\bID\b", shown.release, piece).replace("https://maps.example", shown.address)
        exec(compile(text, "gis.md", "exec"), {})
    assert len(pieces) == 2
    told = capsys.readouterr().out
    assert "2 (64, 64) []" in told
    assert "value" in told


def test_hiding_ends_it_at_once_but_for_whoever_has_a_token(shown):
    shown.let_everybody_see_it(False)
    try:
        with pytest.raises(RasterioIOError):
            rasterio.open(f"/vsicurl/{shown.raster}")
        with pytest.raises(pyogrio.errors.DataSourceError):
            pyogrio.read_info(f"OAPIF:{shown.address}/ogc/", layer=shown.release)
        allowed = rasterio.Env(GDAL_HTTP_HEADERS=f"Authorization: Bearer {shown.token}")
        with allowed, rasterio.open(f"/vsicurl/{shown.raster}") as raster:
            assert (raster.read(1) == shown.array()).all()
    finally:
        shown.let_everybody_see_it(True)
