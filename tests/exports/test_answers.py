"""Files of named answers: a spreadsheet reads names as texts and numbers as they are; rings as they lie."""

import csv
import io

import pytest
from PIL import ImageColor

from heatmaps.exports.answers import write_table
from heatmaps.exports.map_image import GROUND, pixel_of
from heatmaps.exports.rings import rings_image
from heatmaps.maps.rings import DrawnRing
from mechanisms.grid import Region


def read_back(*rows):
    stream = io.BytesIO()
    write_table(("number", "name", "share"), rows, stream)
    return list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_no_name_is_a_formula(name):
    assert read_back((1, name, 0.5))[1] == ["1", f"'{name}", "0.5"]


@pytest.mark.parametrize("name", ['a, "b"; c', "x=1", "Öst"])
def test_other_names_are_kept_and_numbers_to_the_last_bit(name):
    header, row = read_back((1, name, -1 / 3))
    assert header == ["number", "name", "share"]
    assert row[1] == name
    assert float(row[2]) == -1 / 3


@pytest.mark.parametrize(("colours", "seen"), [({"class-1": "#3366cc"}, "#3366cc"), ({}, GROUND)])
def test_a_ring_is_filled_with_the_colour_of_its_class_if_it_has_one(colours, seen):
    sea = Region(-30, 0, -29, 1)  # where no place has a name
    corners = [(0.2, -29.8), (0.2, -29.4), (0.6, -29.4), (0.6, -29.8), (0.2, -29.8)]
    ring = DrawnRing(corners=corners, key="class-1", text="1 · 12.5 %", middle=(0.4, -29.6))
    picture = rings_image(sea, (ring,), colours)

    def pixel(lat, lon):
        return picture.getpixel(tuple(map(round, pixel_of(sea, picture, lat=lat, lon=lon))))

    assert pixel(0.25, -29.75) == ImageColor.getrgb(seen)
    assert pixel(0.65, -29.85) == ImageColor.getrgb(GROUND)
    assert pixel(0.2, -29.5) != ImageColor.getrgb(GROUND)  # its border
