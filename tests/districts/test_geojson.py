"""What a district file may be, and what is said of one that is not."""

import json
import sys

import pytest

from heatmaps.districts import geojson
from mechanisms.check import ParameterError
from tests.geojson import collection, districts, feature, square

SQUARES = districts(north=square(0.1, 0.6), south=square(0.1, 0.1))


def read(body, **options):
    return geojson.read(body if isinstance(body, bytes) else json.dumps(body).encode(), **options)


def test_it_reads_names_and_polygons_of_every_shape():
    hole = [[0.2, 0.2], [0.3, 0.2], [0.3, 0.3], [0.2, 0.2]]
    ring = square(0.1, 0.1)["coordinates"][0]
    body = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"NAME": " Old\u200b\n town "},
                "geometry": {"type": "Polygon", "coordinates": [ring, hole]},
            },
            {"type": "Feature", "properties": None, "geometry": square(0.123456789, 0.5)},
            {
                "type": "Feature",
                "properties": {"label": 7},
                "geometry": {"type": "MultiPolygon", "coordinates": [[ring[:-1]]]},
            },
        ],
    }
    areas = read(b"\xef\xbb\xbf" + json.dumps(body).encode())
    assert [area.name for area in areas] == ["Old town", "Area 2", "7"]
    assert areas[0].corners == 9
    assert areas[0].polygons[0][1][0] == (0.2, 0.2)
    assert areas[1].polygons[0][0][0][0] == 0.1234568  # a centimetre
    assert areas[2].polygons[0][0][-1] == tuple(ring[0])  # closed
    assert read(square(0, 0))[0].name == "Area 1"
    assert geojson.read(geojson.to_geojson(areas)) == areas


def test_areas_of_one_name_are_one_district():
    places = {"island": square(0, 0), "shore": square(0.4, 0), "island ": square(0, 0.4)}
    areas = geojson.merged_by_name(read(collection(feature(*place) for place in places.items())))
    assert [(area.name, len(area.polygons)) for area in areas] == [("island", 2), ("shore", 1)]


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        (b"\xff", "file", "GeoJSON"),
        (b'{"a": NaN}', "file", "GeoJSON"),
        (b"[" * (sys.getrecursionlimit() * 10), "file", "GeoJSON"),
        ([], "file", "GeoJSON"),
        ({"type": "FeatureCollection"}, "file", "1 to 1,000 features"),
        ({"type": "FeatureCollection", "features": []}, "file", "1 to 1,000 features"),
        ({"type": "FeatureCollection", "features": [0] * 1001}, "file", "1 to 1,000 features"),
        ({"type": "FeatureCollection", "features": [None]}, "file", "the geometry of feature 1"),
        ({"type": "Point", "coordinates": [0, 0]}, "file", "the Point of feature 1"),
        ({"type": "Polygon", "coordinates": []}, "file", "Polygon and MultiPolygon"),
        ({"type": "MultiPolygon", "coordinates": [[]]}, "file", "Polygon and MultiPolygon"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]}, "file", "at least 4 corners"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, "0"], [0, 0]]]}, "file", "a corner of"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [True, 0], [0, 0]]]}, "file", "a corner of"),
        ({"type": "Polygon", "coordinates": [[[392000, 5820000]] * 4]}, "file", "files in metres"),
        ({"type": "Polygon", "coordinates": [[[10**400, 0]] * 4]}, "file", "latitude within 90"),
        (SQUARES | {"crs": {"properties": {"name": "EPSG:25833"}}}, "file", "WGS84"),
        (
            {"type": "Polygon", "coordinates": [[[0, at % 7] for at in range(10_001)]]},
            "file",
            "at most 10,000 corners",
        ),
    ],
)
def test_what_is_no_district_file_is_refused_with_what_is_allowed(body, field, told):
    with pytest.raises(ParameterError) as refusal:
        read(body)
    assert refusal.value.parameter == field
    assert told in str(refusal.value)


def test_the_property_of_the_names_is_in_every_feature_or_refused_with_those_there_are():
    body = districts(north=square(0.1, 0.6), south=square(0.1, 0.1))
    body["features"][0]["properties"] = {"quarter": "Mitte", "note": None}
    with pytest.raises(ParameterError) as refusal:
        read(body, name_property="quarter")
    assert refusal.value.parameter == "name_property"
    assert "feature 2 has name" in refusal.value.allowed
    body["features"][1]["properties"] = {"quarter": "Wedding"}
    assert [area.name for area in read(body, name_property="quarter")] == ["Mitte", "Wedding"]


def test_a_coordinate_system_in_degrees_is_taken():
    named = {"properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert len(read(SQUARES | {"crs": named})) == 2
