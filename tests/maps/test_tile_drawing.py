"""Tiles show at each place what the page's map shows there."""

import io

import numpy as np
import pytest
from PIL import Image

from heatmaps.maps import image, tile_drawing
from heatmaps.maps.grid import draw
from heatmaps.maps.heat_view import OPACITY, heat_view
from heatmaps.maps.legend import legend
from heatmaps.maps.tile_drawing import Tile
from mechanisms.space.grid import Region
from tests.exports.examples import make_heatmap

REGION = Region(-98.0, 29.5, -97.0, 31.0)
SURE = {(2, 1, 1): (400.0, 4.0), (3, 6, 6): (90.0, 2.0), (3, 0, 0): (1.0, 4.0)}


def kept(heatmap, *, heat=False, dark=False):
    stream = io.BytesIO()
    tile_drawing.write_picture(heatmap, REGION, stream, heat=heat, dark=dark)
    return stream.getvalue()


def drawn(picture, tile, scale=1):
    png = tile_drawing.tile_png(io.BytesIO(picture), REGION, tile, scale=scale)
    return np.asarray(Image.open(io.BytesIO(png)))


def at(picture, lat, lon, zoom, scale=1):
    """The pixel that holds a place."""
    x = (lon + 180) / 360 * 2**zoom
    y = (0.5 - image.mercator(lat) / (2 * np.pi)) * 2**zoom
    pixels = drawn(picture, Tile(zoom=zoom, x=int(x), y=int(y)), scale)
    return pixels[int(y % 1 * 256 * scale), int(x % 1 * 256 * scale)]


@pytest.mark.parametrize(("zoom", "scale", "dark"), [(8, 1, False), (11, 1, True), (11, 2, False)])
def test_cells_have_the_colours_of_the_page(zoom, scale, dark):
    heatmap = make_heatmap()
    page = draw(heatmap, REGION)
    key = legend(page)
    colours = image.colours(len(key.breaks), dark=dark)[key.classes_of(page)]
    picture = kept(heatmap, dark=dark)
    seen = set()
    for row, column in np.ndindex(8, 8):
        lat = REGION.north - (row + 0.5) / 8 * 1.5
        found = at(picture, lat, REGION.west + (column + 0.5) / 8, zoom, scale)
        assert (found == colours[row, column]).all(), (row, column)
        seen.add(tuple(found))
    assert len(seen) > 2  # nothing, and several classes


def test_heat_has_the_colours_and_the_opacity_of_the_page():
    heatmap = make_heatmap(SURE, deviations=[1.0, 1.0, 1.0])
    page = heat_view(heatmap, REGION)
    pixels, picture = page.pixels(dark=False), kept(heatmap, heat=True)
    latitudes = image.mercator_latitudes(REGION, 256)
    inside = [(row, column) for row in range(9, 256, 27) for column in range(9, 256, 27)]
    shown = 0
    for row, column in inside:
        around = pixels[row - 1 : row + 2, column - 1 : column + 2].reshape(-1, 4)
        if np.ptp(around.astype(int), axis=0).max() > 40:
            continue  # at an edge, colours are between those of both sides
        found = at(picture, latitudes[row], REGION.west + (column + 0.5) / 256, 12).astype(int)
        assert abs(found[3] - OPACITY * pixels[row, column, 3]) <= 14, (row, column)
        if found[3]:
            shown += 1
            assert abs(found[:3] - pixels[row, column, :3]).max() <= 14, (row, column)
    assert 3 < shown < len(inside)


def test_outside_of_the_region_everything_is_transparent():
    picture = kept(make_heatmap())
    assert not drawn(picture, Tile(zoom=3, x=7, y=7)).any()
    tile = Tile(zoom=5, x=7, y=13)  # from -101.25 to -90 degrees east
    lons, lats = tile.centres(256)
    inside = np.outer((lats > 29.5) & (lats < 31), (lons > -98) & (lons < -97))
    whole = kept(make_heatmap({(0, 0, 0): (40.0, 1.0)}))
    assert (drawn(whole, tile)[..., 3] > 0).tolist() == inside.tolist()
    assert drawn(picture, Tile(zoom=0, x=0, y=0)).any()  # from one pixel on


@pytest.mark.parametrize("heat", [True, False])
def test_neighbours_meet_without_a_seam(heat):
    """A tile of twice the pixels is its four parts at the next zoom."""
    picture = kept(make_heatmap(SURE, deviations=[1.0, 1.0, 1.0]), heat=heat)
    x, y = int((REGION.west + 0.4 + 180) / 360 * 2**9), int((0.5 - image.mercator(30.4) / (2 * np.pi)) * 2**9)
    large = drawn(picture, Tile(zoom=9, x=x, y=y), scale=2)
    parts = [[drawn(picture, Tile(zoom=10, x=2 * x + i, y=2 * y + j)) for i in range(2)] for j in range(2)]
    assert large.any()
    joined = np.concatenate([np.concatenate(row, axis=1) for row in parts])
    assert (joined == large).all()


def test_zooms_end_where_cells_are_large():
    for resolution in (16, 256, 4096):
        zoom = tile_drawing.largest_zoom(REGION, resolution)
        pixels = 256 * 2**zoom / 360 / min(resolution, 1024)
        assert 8 <= pixels < 16
    assert tile_drawing.largest_zoom(Region(0, 0, 1e-4, 1e-4), 4096) == 22


@pytest.mark.parametrize(("zoom", "x", "y"), [(0, 1, 0), (3, 0, 8), (23, 0, 0), (10**9, 0, 0)])
def test_there_are_no_other_tiles(zoom, x, y):
    assert not Tile(zoom=zoom, x=x, y=y).exists
    assert Tile(zoom=3, x=7, y=7).exists


def test_a_place_of_the_surface_stays_where_it_is():
    """A ramp from west to east, and one from north to south, read at the middles of its pixels."""
    latitudes = image.mercator_latitudes(REGION, 256)
    for transposed in (False, True):
        surface, stream = np.zeros((256, 256, 4), np.uint8), io.BytesIO()
        ramp = np.minimum(3 * np.arange(256), 255)
        surface[..., 3] = ramp[:, np.newaxis] if transposed else ramp
        np.savez(stream, heat=surface)
        for place in (10, 40, 80):
            lon = REGION.west + ((100 if transposed else place) + 0.5) / 256
            lat = latitudes[place if transposed else 100]
            assert abs(at(stream.getvalue(), lat, lon, 16)[3] - OPACITY * 3 * place) < 0.7
