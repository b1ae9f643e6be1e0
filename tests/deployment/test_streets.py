"""Settings of streets: read, or refused by name, value and what is allowed."""

import pytest

from heatmaps.config import streets
from tests.maps.streets.archives import archive

FILE, TILES, PUBLIC = "HAZEMAP_BASEMAP", "HAZEMAP_TILES", "HAZEMAP_TILES_PUBLIC"
ADDRESS = "https://tiles.example.org/{z}/{x}/{y}.png"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in (FILE, TILES, PUBLIC, "HAZEMAP_TILES_ATTRIBUTION"):
        monkeypatch.delenv(name, raising=False)


def test_there_are_none_unless_asked_for():
    assert (streets.basemap(), streets.tiles()) == (None, None)


def test_a_file_is_named(monkeypatch, tmp_path):
    path = tmp_path / "city.pmtiles"
    path.write_bytes(archive({0: b"x"}))
    monkeypatch.setenv(FILE, str(path))
    assert streets.basemap() == path


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file"), (b"PK", "it is not a PMTiles file of version 3")]
)
def test_a_file_that_cannot_be_read_is_refused(monkeypatch, tmp_path, content, reason):
    path = tmp_path / "city.pmtiles"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv(FILE, str(path))
    with pytest.raises(RuntimeError, match=rf"^{FILE} must name a PMTiles file .*city.pmtiles.*: {reason}"):
        streets.basemap()


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        (ADDRESS, "https://tiles.example.org"),
        ("https://a.example:8443/t/{z}/{y}/{x}@2x.jpg?key=k-1", "https://a.example:8443"),
        ("http://127.0.0.1:9/{z}/{x}/{y}", "http://127.0.0.1:9"),
        ("http://[::1]:9/{z}/{x}/{y}", "http://[::1]:9"),
    ],
)
def test_a_host_is_exactly_what_the_policy_names(monkeypatch, address, origin):
    monkeypatch.setenv(TILES, address)
    found = streets.tiles()
    assert (found.address, found.origin, found.public) == (address, origin, False)
    assert found.host in found.attribution


def test_who_is_named_and_who_sees_them_is_set(monkeypatch):
    monkeypatch.setenv(TILES, ADDRESS)
    monkeypatch.setenv("HAZEMAP_TILES_ATTRIBUTION", "© Example")
    monkeypatch.setenv(PUBLIC, "1")
    assert (streets.tiles().attribution, streets.tiles().public) == ("© Example", True)


@pytest.mark.parametrize(
    "address",
    [
        "http://tiles.example.org/{z}/{x}/{y}.png",
        "https://{s}.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org/{z}/{x}.png",
        "https://tiles.example.org/{z}/{x}/{y}/{z}.png",
        "https://tiles.example.org/{z}/{x}/{y}{r}.png",
        "https://me:secret@tiles.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org;script-src/{z}/{x}/{y}.png",
        "https://*.example.org/{z}/{x}/{y}.png",
        "https://tiles.example.org/{z}/{x}/{y}.png 'unsafe-inline'",
        "https://tiles.example.org:port/{z}/{x}/{y}.png",
        "https:///{z}/{x}/{y}.png",
        "/{z}/{x}/{y}.png",
        "javascript:alert(1)/{z}/{x}/{y}",
    ],
)
def test_another_address_is_refused(monkeypatch, address):
    monkeypatch.setenv(TILES, address)
    with pytest.raises(RuntimeError, match=TILES) as caught:
        streets.tiles()
    assert repr(address) in str(caught.value)
    assert "https://tiles.example.org/{z}/{x}/{y}.png" in str(caught.value)


def test_whether_they_are_public_is_yes_or_no(monkeypatch):
    monkeypatch.setenv(PUBLIC, "true")
    with pytest.raises(RuntimeError, match=f"{PUBLIC} must be 0 or 1, not 'true'"):
        streets.tiles()
