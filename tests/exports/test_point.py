"""A central point as files: the same numbers in each, the sheet with it, nothing that only maps have."""

import csv
import io
import json
from datetime import date
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from heatmaps.exports import Released, format_of, release_sheet
from heatmaps.exports.sheet_words import in_words
from heatmaps.maps.document import document
from heatmaps.maps.point import circle, point_parts, point_words
from heatmaps.result_kinds import RESULT_KINDS
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.results.point import Point
from mechanisms.space.grid import Region
from tests.exports.examples import ATTACK, OCEAN

POINT = Point(lat=21.125, lon=-38.7, expected_m=9_000.0, within_m=21_000.0)


def made(point=POINT, region=OCEAN, title="Fish & ships"):
    sheet = release_sheet(
        title=title,
        result=point,
        mechanism="exponential",
        parameters={"spacing_m": "900"},
        guarantee=Guarantee.flat(relation=Relation.REPLACE, epsilon=Fraction(2)),
        region=region,
        released=date(2026, 11, 20),
        radius_m=500,
        statements=["A record is exchanged for another."],
        values="degrees",
    )
    return Released(result=point, region=region, sheet=sheet)


def written(suffix, released):
    stream = io.BytesIO()
    format_of(suffix, "centroid").write(released, stream)
    return stream.getvalue()


def test_csv_is_one_line_to_the_last_bit():
    (row,) = csv.DictReader(io.StringIO(written(".csv", made()).decode()))
    assert {name: float(value) for name, value in row.items()} == {
        "lat": POINT.lat,
        "lon": POINT.lon,
        "expected_m": POINT.expected_m,
        "within_m": POINT.within_m,
    }


def test_geojson_has_the_point_its_circle_and_the_sheet():
    found = json.loads(written(".geojson", made()))
    place, ring = found["features"]
    assert place["geometry"] == {"type": "Point", "coordinates": [POINT.lon, POINT.lat]}
    (corners,) = ring["geometry"]["coordinates"]
    assert corners[0] == corners[-1]
    away = [Region(-40, 20, -38, 23).to_metres(lat, lon) for lon, lat in corners]
    middle = Region(-40, 20, -38, 23).to_metres(POINT.lat, POINT.lon)
    lengths = [np.hypot(x - middle[0], y - middle[1]) for x, y in away]
    assert np.array(lengths) == pytest.approx(POINT.within_m, rel=0.01)
    assert found["release_sheet"]["point"]["lat"] == POINT.lat
    assert found["release_sheet"]["point_sha256"] == POINT.sha256
    turning = sum((b[0] - a[0]) * (b[1] + a[1]) for a, b in pairwise(corners))
    assert turning < 0  # counter-clockwise


def test_png_shows_the_point_where_it_is_with_the_sheet_in_its_texts():
    picture = Image.open(io.BytesIO(written(".png", made())))
    assert json.loads(picture.text["Release sheet"])["point"]["lon"] == POINT.lon
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    left_of_panel = pixels[:, : pixels.shape[1] - 520]
    marked = np.argwhere(np.abs(left_of_panel - (0xA3, 0x12, 0x3A)).sum(axis=2) < 12)
    _, x = marked.mean(axis=0)
    width = picture.width - 440 - 3 * 40
    assert (x - 40) / width == pytest.approx((POINT.lon + 40) / 2, abs=0.01)


def test_html_stands_alone_and_escapes_its_title():
    page = written(".html", made(title=ATTACK)).decode()
    assert "<script>document.title" not in page
    assert "21.125000" in page
    assert '"function": "point"' in page
    assert "with probability 95 %" in page
    assert "http://" not in page.split("<main>")[1].split("<script>")[0]


def test_html_says_what_the_point_is_the_mean_of():
    stored = made()
    moments = {"opens_at": "2026-11-20T10:00:00Z", "closes_at": "2026-11-20T11:00:00Z"}
    operators = {"shuffler_operator": "A", "analyser_operator": "B", "page_sha384": "", "facts_sha256": "00"}
    collection = {"question": "Where?", "round": 1, "reports": 20, "invitations": 30} | moments | operators
    rounds = Released(result=POINT, region=OCEAN, sheet=stored.sheet | {"collection": collection})
    texts = [" ".join(written(".html", released).decode().split()) for released in (stored, rounds)]

    assert "The mean of all people enrolled, each at the mean of their own check-ins." in texts[0]
    assert "The mean of the places of all reports;" in texts[1]


def test_the_document_has_data_and_scripts_of_ours_and_no_inline_style():
    page = document(point_parts(POINT, OCEAN), nonce="n0nce", title=ATTACK)
    assert "<script>document.title" not in page
    assert ' style="' not in page
    assert page.count("<script") - page.count("<script src") == page.count("application/json") == 1


def test_files_are_the_same_each_time():
    for suffix in RESULT_KINDS["centroid"].formats:
        assert written(suffix, made()) == written(suffix, made())


@pytest.mark.parametrize("suffix", [".npy", ".tif", ".xyz", ""])
def test_what_only_maps_have_is_refused_by_naming_what_there_is(suffix):
    with pytest.raises(ParameterError, match=r"output is .*, allowed: \.png, \.html, \.geojson, \.csv"):
        format_of(suffix, "centroid")


def test_a_map_writer_refuses_a_point():
    with pytest.raises(TypeError, match="no Heatmap"):
        format_of(".npy").write(made(), io.BytesIO())


def test_the_sheet_in_words_says_where_and_how_far_off():
    words = in_words(made().sheet)
    facts = dict(words.facts)
    assert facts["Point"] == "21.125000, -38.700000 (latitude, longitude)"
    assert facts["Kept with probability 95 %"] == "21 km"
    assert "Resolution" not in facts
    assert [title for title, _ in words.lists] == ["What is promised", "What is not protected"]


def test_a_circle_at_the_edge_of_the_world_is_cut():
    for point in (
        Point(lat=90.0, lon=180.0, expected_m=1.0, within_m=1e6),
        Point(lat=-89.0, lon=-179.9, expected_m=1.0, within_m=5e7),
    ):
        assert all(abs(lat) <= 90 and abs(lon) <= 180 for lat, lon in circle(point))


def test_a_point_in_words():
    words = point_words(Point(lat=30.2672, lon=-97.7431, expected_m=12.345, within_m=1234.5), OCEAN)
    assert (words.lat, words.lon, words.expected, words.within) == (
        "30.267200",
        "-97.743100",
        "13 m",
        "1.3 km",
    )
    assert "Austin" in words.where
