"""Tiles of web maps over HTTP, and their description (TileJSON 3.0)."""

import io
import json

import numpy as np
import pytest
from django.urls import reverse
from PIL import Image

from heatmaps.exports import release_files
from heatmaps.maps import tile_drawing


@pytest.fixture
def tile(api, published):
    """A tile of the published map, which covers one degree from 0, 0."""
    client = api("analyst")

    def get(zoom, x, y, query="", scale=1, **headers):
        name = "gis:tile-2x" if scale == 2 else "gis:tile"
        return client.get(reverse(name, args=[published.pk, zoom, x, y]) + query, headers=headers)

    return get


@pytest.fixture
def described(api, published):
    def get(query=""):
        answer = api("analyst").get(reverse("gis:tilejson", args=[published.pk]) + query)
        return answer.status_code, json.loads(answer.content)

    return get


def pixels(answer):
    return np.asarray(Image.open(io.BytesIO(answer.content)))


def test_it_draws_the_map_and_nothing_beside_it(tile):
    answer = tile(8, 128, 127)  # from 0 to 1.4 degrees east and north
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert pixels(answer).shape == (256, 256, 4)
    assert pixels(answer).any()
    assert not pixels(answer)[:, 190:].any()
    assert not pixels(tile(8, 0, 0)).any()
    assert pixels(tile(8, 128, 127, scale=2)).shape == (512, 512, 4)


def test_a_look_and_a_layer_are_other_tiles(tile):
    several = [tile(8, 128, 127, query) for query in ("", "?look=dark", "?layer=squares")]
    assert len({answer["ETag"] for answer in several}) == 3
    assert several[0].content != several[1].content


def test_who_has_a_tile_gets_none_and_none_is_drawn(tile, monkeypatch):
    etag = tile(3, 4, 3)["ETag"]
    monkeypatch.setattr(tile_drawing, "tile_png", None)
    answer = tile(3, 4, 3, **{"if-none-match": etag})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("at", [(0, 1, 0), (2, 0, 4), (30, 0, 0), (10**30, 0, 0), (8, 10**30, 0)])
def test_there_are_no_other_tiles(tile, described, at):
    answer = tile(*at)
    assert answer.status_code == 404
    assert f"zooms from 0 to {described()[1]['maxzoom']}" in answer.json()["detail"]


@pytest.mark.parametrize("query", ["?look=blue", "?layer=x", "?zoom=3", "?look=dark&look=light"])
def test_it_refuses_what_it_does_not_know(tile, described, query):
    assert tile(0, 0, 0, query).status_code == 400
    assert described(query)[0] == 400


def test_it_says_where_the_tiles_are_and_what_they_promise(described, published, api):
    _, told = described("?look=dark")
    assert told["tilejson"] == "3.0.0"
    assert told["bounds"] == [0, 0, 1, 1]
    assert 0 == told["minzoom"] < told["maxzoom"] <= 22
    assert "ε = 0.5 (presence)" in told["attribution"]
    assert told["tiles"] == [f"http://testserver/tiles/{published.pk}/{{z}}/{{x}}/{{y}}.png?look=dark"]
    west, south, zoom = told["center"]
    assert 0 < west < 1
    assert 0 < south < 1
    assert zoom <= told["maxzoom"]
    place = told["tiles"][0].format(z=told["maxzoom"], x=0, y=0)
    assert api("analyst").get(place.removeprefix("http://testserver")).status_code == 200


def test_a_title_is_no_html_where_programs_show_it_as_such(described, published):
    type(published.dataset).objects.update(title="<img src=x onerror=alert(1)> & co")
    _, told = described()
    assert "<" not in told["attribution"]
    assert "&lt;img" in told["attribution"]


@pytest.mark.unguarded
def test_only_maps_have_tiles(api, people, dataset, published, monkeypatch):
    type(published).objects.filter(pk=published.pk).update(mechanism="exponential", resolution=None)
    for name, more in (("gis:tilejson", ()), ("gis:tile", (0, 0, 0))):
        answer = api("analyst").get(reverse(name, args=[published.pk, *more]))
        assert answer.status_code == 422
        assert "point.geojson" in answer.json()["detail"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["gis:tile", "gis:items"])
def test_large_maps_are_prepared_by_a_child(api, published, monkeypatch, name):
    """Which has no database, and no more of the program than it needs."""
    monkeypatch.setattr(release_files, "_SMALL_SIDE", 1)
    more = (0, 0, 0) if name == "gis:tile" else ()
    assert api("analyst").get(reverse(name, args=[published.pk, *more])).status_code == 200
