"""Streets under maps: those of a file for everybody, those of another host for members, by an opt-in."""

import json
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from heatmaps.config.streets import TileServer
from heatmaps.maps import streets
from heatmaps.releases import publication
from tests.maps.streets.archives import BOX, archive
from tests.pages.policies import directives

HOST = "tiles.example.org"
PICTURE = b"\x89PNG picture"


# Pages with a map, and the script that draws it.
MAPS = {
    "release-map": "released_map.js",
    "release-new": "new_release_map.js",
    "dataset-new": "new_dataset.js",
}


class Layers(HTMLParser):
    """What maps of a page are told, and the scripts that draw it."""

    def __init__(self, answer):
        super().__init__()
        self.layers, self.scripts = [], []
        self.feed(answer.content.decode())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "data-streets" in found:
            self.layers += json.loads(found["data-streets"])
        self.scripts += [found["src"]] if "src" in found else []


@pytest.fixture
def basemap(settings, tmp_path):
    def use(**how):
        settings.BASEMAP = tmp_path / "city.pmtiles"
        settings.BASEMAP.write_bytes(archive({0: PICTURE}, **how))

    return use


@pytest.fixture
def tiles(settings):
    def use(*, public=False):
        settings.TILES = TileServer(
            address=f"https://{HOST}/{{z}}/{{x}}/{{y}}.png",
            origin=f"https://{HOST}",
            host=HOST,
            attribution="© Example",
            public=public,
        )

    return use


@pytest.fixture
def drawer(monkeypatch):
    """As if npm packages were installed."""
    monkeypatch.setattr(streets, "may_draw", lambda: True)


def test_a_map_without_settings_has_none(client_of, addresses):
    for name in MAPS:
        page = Layers(client_of("steward").get(addresses[name]))
        assert page.layers == []
        assert not [script for script in page.scripts if "streets" in script or "protomaps" in script]


def test_streets_of_a_file_lie_under_every_map(client_of, addresses, basemap, drawer):
    basemap(kind="mvt", metadata={"attribution": "<a href='x'>©&nbsp;Somebody</a> <b>and</b> others"})
    for name, entry in MAPS.items():
        answer = client_of("steward").get(addresses[name])
        page = Layers(answer)
        (layer,) = page.layers
        assert (layer["kind"], layer["bounds"], layer["zooms"]) == ("mvt", list(BOX), [0, 14])
        assert layer["attribution"] == "Streets: © Somebody and others"
        assert layer["address"].startswith(reverse("basemap") + "?")
        drawers = [script.rsplit("/", 1)[1] for script in page.scripts]
        assert drawers.index("leaflet.js") < drawers.index("protomaps-leaflet.js") < drawers.index(entry)
        assert directives(answer)["img-src"] == "'self' data:"


def test_a_map_says_that_what_draws_streets_is_missing(client_of, addresses, basemap, monkeypatch):
    monkeypatch.setattr(streets, "may_draw", lambda: False)
    basemap(kind="mvt")
    (layer,) = Layers(client_of("steward").get(addresses["release-map"])).layers
    assert layer == {"kind": "missing", "attribution": streets.MISSING}


def test_pictures_of_a_file_are_served_one_by_one(client_of, addresses, basemap):
    basemap(kind="png", metadata={"attribution": "Survey"})
    (layer,) = Layers(client_of("steward").get(addresses["release-map"])).layers
    assert (layer["kind"], layer["attribution"]) == ("raster", "Survey")
    client = client_of("anonymous")
    answer = client.get(layer["address"].format(z=0, x=0, y=0))
    assert (answer.content, answer["Content-Type"]) == (PICTURE, "image/png")
    assert client.get(layer["address"].format(z=1, x=0, y=0)).status_code == 404
    assert client.get(layer["address"].format(z=40, x=0, y=2**40)).status_code == 404
    assert client.get(reverse("basemap")).status_code == 404
    again = client.get(layer["address"].format(z=0, x=0, y=0), headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304


def test_a_file_is_served_by_ranges_to_everybody(client_of, basemap, settings):
    basemap(kind="mvt")
    answer = client_of("anonymous").get(reverse("basemap"), headers={"range": "bytes=0-6"})
    assert (answer.status_code, answer.content) == (206, b"PMTiles")
    assert client_of("anonymous").get(reverse("basemap-tile", args=[0, 0, 0])).status_code == 404
    settings.BASEMAP.unlink()
    assert client_of("anonymous").get(reverse("basemap")).status_code == 404


def test_a_whole_file_is_not_had_again_and_again(client_of, basemap, settings):
    """Parts are: a map asks for many."""
    basemap(kind="mvt")
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"public_address": 2}
    visitor, part = client_of("anonymous"), {"range": "bytes=0-6"}
    parts = [visitor.get(reverse("basemap"), headers=part).status_code for _ in range(4)]
    wholes = [visitor.get(reverse("basemap")).status_code for _ in range(3)]
    several = visitor.get(reverse("basemap"), headers={"range": "bytes=0-1,3-4"}).status_code
    assert (parts, wholes, several) == ([206] * 4, [200, 200, 429], 429)
    assert visitor.get(reverse("basemap"), headers=part).status_code == 206


def test_a_map_without_its_file_is_a_map(client_of, addresses, basemap, settings, drawer):
    basemap(kind="mvt")
    settings.BASEMAP.write_bytes(b"gone")
    answer = client_of("steward").get(addresses["release-map"])
    assert (answer.status_code, Layers(answer).layers) == (200, [])


def test_another_host_is_asked_by_members_alone_and_said(client_of, addresses, published, people, tiles):
    tiles()
    publication.set_public(people["steward"], published, public=True)
    for name in MAPS:
        answer = client_of("steward").get(addresses[name])
        (layer,) = Layers(answer).layers
        assert (layer["kind"], layer["attribution"]) == ("tiles", "© Example")
        assert directives(answer)["img-src"] == f"'self' data: https://{HOST}"
        assert f"come from <b>{HOST}</b>. That server sees which area you look at." in answer.content.decode()
    for name in ("anonymous", "stranger"):
        answer = client_of(name).get(addresses["release-map"])
        assert (answer.status_code, Layers(answer).layers) == (200, [])
        assert HOST not in answer["Content-Security-Policy"] + answer.content.decode()
    for name in ("datasets", "dataset", "release"):
        assert HOST not in client_of("steward").get(addresses[name])["Content-Security-Policy"]


def test_a_second_setting_shows_them_on_public_maps(client_of, addresses, published, people, tiles):
    tiles(public=True)
    publication.set_public(people["steward"], published, public=True)
    answer = client_of("anonymous").get(addresses["release-map"])
    assert directives(answer)["img-src"] == f"'self' data: https://{HOST}"
    assert Layers(answer).layers[0]["kind"] == "tiles"


def test_files_of_a_map_know_no_streets(client_of, published, basemap, tiles, drawer):
    basemap(kind="mvt")
    tiles(public=True)
    address = reverse("release-download", args=[published.pk, "html"])
    text = b"".join(client_of("steward").get(address).streaming_content).decode()
    assert HOST not in text
    assert "data-streets=" not in text


@pytest.mark.usefixtures("drawer")
def test_embedded_maps_are_public_maps(client_of, published, people, basemap, tiles):
    basemap(kind="mvt")
    publication.set_public(people["steward"], published, public=True)
    address = reverse("embed", args=[published.pk])
    for public, kinds in ((False, ["mvt"]), (True, ["tiles", "mvt"])):
        tiles(public=public)
        answer = client_of("anonymous").get(address)
        assert [layer["kind"] for layer in Layers(answer).layers] == kinds
        assert (HOST in answer["Content-Security-Policy"]) == (HOST in answer.content.decode()) == public
