"""Files of named answers: a spreadsheet reads names as texts and numbers as they are; rings as they lie."""

import csv
import io

import pytest
from PIL import ImageColor

from heatmaps.exports.answers import write_table
from heatmaps.exports.map_image import blank
from heatmaps.exports.rings import draw_rings
from heatmaps.maps.looks import LIGHT
from heatmaps.maps.rings import DrawnRing
from mechanisms.space.grid import Region


def read_back(*rows):
    stream = io.BytesIO()
    write_table(("number", "name", "share"), rows, stream)
    return list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    " =1+1",
    "\t=1+1",
    "\rx",
    "\N{NO-BREAK SPACE}=1+1",
    "\N{ZERO WIDTH SPACE}=1+1",
    "\N{ZERO WIDTH NO-BREAK SPACE}=1+1",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
    "\N{SMALL EQUALS SIGN}1+1",
    "\N{FULLWIDTH PLUS SIGN}1",
    "\N{SUPERSCRIPT PLUS SIGN}1",
    "\N{FULLWIDTH HYPHEN-MINUS}1",
    "\N{MINUS SIGN}1",
    "\N{EN DASH}1",
    "\N{FULLWIDTH COMMERCIAL AT}SUM(A1)",
]


@pytest.mark.parametrize("name", FORMULAS)
def test_no_name_is_a_formula(name):
    assert read_back((1, name, 0.5))[1] == ["1", f"'{name}", "0.5"]


@pytest.mark.parametrize("name", ['a, "b"; c', "x=1", "Öst", "", " Öst", "(=1)", "𝛼"])
def test_other_names_are_kept_and_numbers_to_the_last_bit(name):
    header, row = read_back((1, name, -1 / 3))
    assert header == ["number", "name", "share"]
    assert row[1] == name
    assert float(row[2]) == -1 / 3


def ring_of(corners, *, middle, text="1 · 12.5 %", weight=0.125):
    return DrawnRing(
        corners=corners, key="class-1", text=text, middle=middle, name="Zone 1", told="", weight=weight
    )


@pytest.mark.parametrize(("colours", "seen"), [({"class-1": "#3366cc"}, "#3366cc"), ({}, LIGHT.land)])
def test_a_ring_is_filled_with_the_colour_of_its_class_if_it_has_one(colours, seen):
    sea = Region(-30, 0, -29, 1)  # where no place has a name
    corners = [(0.2, -29.8), (0.2, -29.4), (0.6, -29.4), (0.6, -29.8), (0.2, -29.8)]
    ring = ring_of(corners, middle=(0.4, -29.6))
    scene = blank(sea)
    draw_rings(scene, (ring,), colours)

    def pixel(lat, lon):
        return scene.image.getpixel(tuple(map(round, scene.pixel_of(lat=lat, lon=lon))))

    assert pixel(0.25, -29.75) == ImageColor.getrgb(seen)
    assert pixel(0.65, -29.85) == ImageColor.getrgb(LIGHT.land)
    assert pixel(0.2, -29.5) != ImageColor.getrgb(LIGHT.land)  # its border


def test_no_place_name_runs_into_the_sign_of_a_ring():
    austin = Region(-98.3, 29.8, -97.3, 31.0)
    lat, lon = 30.267, -97.743
    corners = [(lat - 0.1, lon - 0.1), (lat + 0.1, lon - 0.1), (lat, lon + 0.1)]
    ring = ring_of(corners, middle=(lat, lon))
    scene = blank(austin)
    signs = draw_rings(scene, (ring,), {})
    x, y = scene.pixel_of(lat=lat, lon=lon)
    sign = (int(x) - 40, int(y) - 10, int(x) + 40, int(y) + 10)
    before, whole = scene.image.crop(sign).tobytes(), scene.image.tobytes()
    scene.name_places(around=signs)
    assert scene.image.crop(sign).tobytes() == before
    assert scene.image.tobytes() != whole
