"""Files of tiles are read by the book, and what is none is refused by what is wrong with it."""

import pytest

from heatmaps.maps.pmtiles import Archive, NotReadable, tile_number
from tests.maps.streets.archives import BOX, archive

TILES = {0: b"world", 3: b"south-east", 4: b"north-east", 77: b"finer"}


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "city.pmtiles"
        path.write_bytes(content)
        return path

    return write


# The order of the specification's own table.
@pytest.mark.parametrize(
    ("tile", "number"),
    [
        ((0, 0, 0), 0),
        ((1, 0, 0), 1),
        ((1, 0, 1), 2),
        ((1, 1, 1), 3),
        ((1, 1, 0), 4),
        ((2, 0, 0), 5),
        ((12, 3423, 1763), 19078479),
    ],
)
def test_tiles_lie_on_the_curve(tile, number):
    assert tile_number(*tile) == number


def test_every_tile_of_a_zoom_has_a_number_of_its_own():
    numbers = {tile_number(5, x, y) for x in range(32) for y in range(32)}
    assert numbers == set(range((4**5 - 1) // 3, (4**6 - 1) // 3))


@pytest.mark.parametrize("by_leaves", [False, True])
def test_it_finds_a_tile_and_none_where_there_is_none(file, by_leaves):
    opened = Archive.open(file(archive(TILES, by_leaves=by_leaves, metadata={"attribution": "us"})))
    assert [opened.tile(*place) for place in ((0, 0, 0), (1, 1, 1), (1, 1, 0))] == list(TILES.values())[:3]
    assert [opened.tile(*place) for place in ((1, 0, 0), (9, 5, 5), (0, 1, 0), (27, 0, 0), (-1, 0, 0))] == [
        b""
    ] * 5
    assert opened.metadata == {"attribution": "us"}
    assert (opened.kind, opened.bounds, opened.zooms) == ("png", BOX, (0, 14))


def test_a_changed_file_has_another_version(file):
    before = Archive.open(file(archive(TILES))).version
    assert Archive.open(file(archive(TILES | {5: b"more"}))).version != before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a PMTiles file"),
        (b"PMTiles\x02" + bytes(200), "is not a PMTiles file of version 3"),
        (b"PMTiles\x03" + bytes(200), "tiles of an unknown kind"),
        (archive(TILES, box=(2, 0, 1, 1)), "which is no box"),
    ],
)
def test_it_refuses_what_is_no_such_file(file, content, reason):
    with pytest.raises(NotReadable, match=reason):
        Archive.open(file(content))


def test_a_damaged_directory_is_refused(file):
    content = bytearray(archive(TILES))
    content[127] ^= 0xFF
    with pytest.raises(NotReadable, match="is damaged"):
        Archive.open(file(bytes(content))).tile(0, 0, 0)
