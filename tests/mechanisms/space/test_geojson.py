"""GeoJSON of strangers: whatever stands where, it is read, or refused by the parameter's name."""

import copy
import json

import pytest

from mechanisms.check import ParameterError
from mechanisms.results.distances import Places
from mechanisms.results.zones import Zones

RING = [[0, 0], [2, 0], [2, 1], [0, 0]]
KINDS = [
    (Zones, "zones", {"type": "Polygon", "coordinates": [RING]}),
    (Places, "places", {"type": "Point", "coordinates": [0.5, 1]}),
]
ODD = [None, True, 5, -1e300, float("nan"), "x", "", [], [1], [[1]], {}, {"name": "x"}, [{"type": "Feature"}]]


def collection(geometry):
    feature = {"type": "Feature", "properties": {"name": "here"}, "geometry": geometry}
    return {"type": "FeatureCollection", "features": [feature]}


def places_in(body, path=()):
    """Of every value of it, itself included."""
    yield path
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inside:
        yield from places_in(value, (*path, key))


def put(body, path, value):
    changed = copy.deepcopy(body)
    if not path:
        return value
    target = changed
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return changed


def refused(kind, value):
    """The parameter that a refusal names; None where it is read."""
    try:
        kind.parse(value)
    except ParameterError as error:
        return error.parameter
    return None


@pytest.mark.parametrize(("kind", "name", "geometry"), KINDS, ids=["zones", "places"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_whatever_stands_anywhere_is_read_or_refused_by_name(kind, name, geometry, odd):
    plain = collection(geometry)
    spelled = json.loads(kind.parse(plain).text)
    for body in (plain, spelled):
        for path in places_in(body):
            changed = put(body, path, odd)
            assert refused(kind, changed) in (name, None)
            assert refused(kind, json.dumps(changed)) in (name, None)


@pytest.mark.parametrize(("kind", "name", "geometry"), KINDS, ids=["zones", "places"])
@pytest.mark.parametrize(
    "properties", [[1], ["name"], "name", 5, {"name": ["x"]}, {"title": {"x": 1}}], ids=repr
)
def test_properties_that_are_no_object_are_refused(kind, name, geometry, properties):
    feature = {"type": "Feature", "properties": properties, "geometry": geometry}
    with pytest.raises(ParameterError, match=name):
        kind.parse(feature)


def test_a_name_may_be_a_number_or_missing():
    def named(properties):
        geometry = {"type": "Point", "coordinates": [0.5, 1]}
        return (
            Places.parse({"type": "Feature", "properties": properties, "geometry": geometry}).places[0].name
        )

    assert [named({"name": 7}), named({"title": " Quay "}), named(None), named({})] == [
        "7",
        "Quay",
        "Place 1",
        "Place 1",
    ]
