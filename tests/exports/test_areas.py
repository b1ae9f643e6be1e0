"""A map of areas in files and on the map: its squares as of any map, and its centres."""

import io
import json
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from heatmaps.exports import Released, features, release_sheet
from heatmaps.maps.document import map_parts
from heatmaps.maps.table import top_regions
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.results.areas import Areas
from mechanisms.space.grid import morton_encode
from tests.exports.examples import OCEAN, make_released, written

CENTRES = {(1, 2): 30.0, (6, 6): 10.0}  # (x from the west, y from the south) of 8 × 8 cells


@pytest.fixture
def released():
    codes = np.array([int(morton_encode(x, y, 3)) for x, y in CENTRES])
    areas = Areas.around(3, codes, np.array(list(CENTRES.values())))
    plain = make_released()
    kept = ("title", "mechanism", "parameters", "statements", "values")
    sheet = release_sheet(
        **{name: plain.sheet[name] for name in kept},
        result=areas,
        guarantee=Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(1)),
        region=OCEAN,
        released=date(2026, 11, 20),
    )
    return Released(result=areas, region=OCEAN, sheet=sheet)


def middle(x, y):
    """(lat, lon) of a cell's middle."""
    return (
        OCEAN.south + (y + 0.5) / 8 * (OCEAN.north - OCEAN.south),
        OCEAN.west + (x + 0.5) / 8 * (OCEAN.east - OCEAN.west),
    )


def test_centres_are_points_after_the_squares_and_stand_in_the_sheet(released):
    found = json.loads(written(".geojson", released))
    kinds = [feature["geometry"]["type"] for feature in found["features"]]
    assert kinds == ["Polygon"] * (len(kinds) - 2) + ["Point"] * 2
    assert sum(feature["properties"]["value"] for feature in found["features"][:-2]) == pytest.approx(40)
    for rank, ((x, y), persons) in enumerate(CENTRES.items(), start=1):
        point, listed = found["features"][rank - 3], found["release_sheet"]["centres"][rank - 1]
        assert point["geometry"]["coordinates"][::-1] == pytest.approx(middle(x, y))
        assert point["properties"] == {"centre": rank, "value": persons, "share": persons / 40}
        assert (listed["lat"], listed["lon"]) == pytest.approx(middle(x, y))


def test_programs_that_read_features_page_by_page_meet_the_centres_first(released):
    stream = io.BytesIO()
    features.write_lines(released, stream)
    lines = [json.loads(line.rstrip(b",")) for line in stream.getvalue().split(b"\n")[:4]]
    assert [line["properties"].get("centre") for line in lines] == [1, 2, None, None]


def test_the_map_marks_them_and_the_table_has_a_row_each(released):
    parts = map_parts(released.heatmap, OCEAN)
    assert parts.rows[-1].key == "sign-point"
    (centres,) = [drawing.content for drawing in parts.drawings if drawing.function == "centres"]
    assert centres[0]["text"] == "1 · 75 %"
    rows = top_regions(released.heatmap, OCEAN, most=15)
    assert [(row.rank, row.share, row.persons) for row in rows] == [(1, "75 %", "30"), (2, "25 %", "10")]
    whole = OCEAN.width_m * OCEAN.height_m / 1e6
    sizes = [float(row.size.removesuffix(" km²").replace(",", "")) for row in rows]
    assert sum(sizes) == pytest.approx(whole, rel=0.01)
    page = written(".html", released).decode()
    assert "The centres and all that is nearest to each, 2 of 2." in page
    assert "a centre, its number" in page


def test_another_map_has_none():
    released = make_released()
    assert "sign-point" not in {row.key for row in map_parts(released.heatmap, OCEAN).rows}
    assert "centres" not in released.sheet
    assert "a centre, its number" not in written(".html", released).decode()
