"""District files over HTTP, and people in areas of a counted map."""

import json

import numpy as np
import pytest
from rest_framework.throttling import SimpleRateThrottle

from heatmaps.models import DistrictFile
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.geojson import districts, square
from tests.services.draws import carry_out

HALVES = districts(North=square(0, 0.5, 0.5), South=square(0, 0, 0.5), Far=square(40, 40))
CITED = "?title=Halves&source=City%20of%20Hazel&name_property=name"
GEOJSON = {"content_type": "application/geo+json"}


@pytest.fixture
def stored(api, dataset):
    body = json.dumps(HALVES).encode()
    answer = api("steward").send("POST", "districts", dataset.slug, query=CITED, body=body, **GEOJSON)
    assert answer.status_code == 201, answer.content
    assert answer["Location"] == answer.json()["links"]["self"]
    return answer.json()


@pytest.fixture
def store(api, dataset):
    client = api("steward")
    return lambda query, body: client.send("POST", "districts", dataset.slug, query=query, body=body)


def test_a_file_is_stored_listed_changed_replaced_and_deleted(api, dataset, stored):
    client = api("steward")
    assert (stored["title"], stored["areas"], stored["corners"]) == ("Halves", 3, 15)
    assert api("auditor").send("GET", "districts", dataset.slug).json()["results"] == [stored]
    changed = client.send("PATCH", "district", dataset.slug, stored["id"], body={"licence": "CC0"}).json()
    assert (changed["title"], changed["licence"], changed["sha256"]) == ("Halves", "CC0", stored["sha256"])

    query = f"?replaces={stored['id']}&source=Somebody%20else"
    replaced = client.send("POST", "districts", dataset.slug, query=query, body=square(0, 0)).json()
    assert (replaced["id"], replaced["title"], replaced["areas"]) == (stored["id"], "Halves", 1)
    assert (replaced["source"], replaced["licence"]) == ("Somebody else", "CC0")
    assert client.send("DELETE", "district", dataset.slug, stored["id"]).status_code == 204
    assert not DistrictFile.objects.exists()


def test_areas_that_are_sent_and_stored_have_the_same_sums(api, counted, stored):
    client = api("analyst")
    told = client.send("GET", "areas", counted.pk, query=f"?districts={stored['id']}").json()
    assert [area["area"] for area in told["areas"]] == ["North", "South"]
    assert told["outside"] == 1
    assert client.send("POST", "areas", counted.pk, body=HALVES).json() == told
    lines = client.send("POST", "areas-csv", counted.pk, body=HALVES).content.decode().split("\r\n")
    assert lines[0] == "area,people,within,share,covered"
    figures = np.array([line.split(",")[1:] for line in lines[1:3]], float)
    for column, name, factor in ((0, "people", 1), (1, "standard_error", 2), (2, "share", 1)):
        assert figures[:, column] == pytest.approx([factor * area[name] for area in told["areas"]])


def test_a_public_release_has_its_districts_without_a_token(api, people, counted, stored):
    client = api("anonymous")
    assert client.send("GET", "release-districts", counted.pk).status_code == 401
    publication.set_public(people["steward"], counted, public=True)
    links = client.send("GET", "release", counted.pk).json()["links"]
    (file,) = client.get(links["districts"]).json()["results"]
    assert file["source"] == "City of Hazel"
    assert client.get(file["links"]["areas"]).json()["outside"] == 1
    assert client.get(file["links"]["csv"])["Content-Type"].startswith("text/csv")
    assert len(client.get(file["links"]["geojson"]).json()["features"]) == 3
    assert "public" in client.get(file["links"]["areas"])["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "body", "field", "told"),
    [
        ("?source=x", HALVES, "title", "1 to 80 characters"),
        ("?title=x", HALVES, "source", "1 to 300 characters"),
        (CITED, b"[]", "file", "GeoJSON"),
        (CITED, b"", "file", "GeoJSON"),
        (CITED.replace("name_property=name", "name_property=id"), HALVES, "name_property", "has name"),
    ],
)
def test_what_is_refused_names_field_value_and_what_is_allowed(store, query, body, field, told):
    answer = store(query, body)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert told in error["detail"]


def test_what_is_not_a_request_is_refused(api, dataset, counted, stored, settings):
    client = api("steward")
    assert client.send("GET", "areas", counted.pk).json()["errors"][0]["field"] == "districts"
    assert client.send("GET", "areas", counted.pk, query="?districts=1").status_code == 400
    other = "?districts=33333333-3333-4333-8333-333333333333"
    assert client.send("GET", "areas", counted.pk, query=other).status_code == 404
    assert client.send("POST", "areas", counted.pk, body=b"x", content_type="text/csv").status_code == 415
    many = {"type": "Polygon", "coordinates": [[[0, 0.1 * (at % 7)] for at in range(10_001)]]}
    refused = client.send("POST", "areas", counted.pk, body=many).json()
    assert "at most 10,000 corners" in refused["detail"]
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = settings.MAX_DISTRICT_BYTES = 1000
    assert client.send("POST", "areas", counted.pk, body=many).status_code == 413
    assert client.send("POST", "districts", dataset.slug, query=CITED, body=many).status_code == 413


def test_what_has_no_sums_says_so(people, api, panel, published):
    point = ReleaseRequest(mechanism="exponential", epsilon="1", resolution=None)
    made = lifecycle.request_release(people["steward"], panel, point)
    carry_out(made.pk)
    for release in (made, published):  # a point, and a map that states no errors
        answer = api("steward").send("POST", "areas", release.pk, body=square(0, 0))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "release"


def test_sums_are_counted(api, counted, stored, monkeypatch):
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "areas", "1/min")
    client = api("analyst")
    statuses = [
        client.send("GET", "areas", counted.pk, query=f"?districts={stored['id']}").status_code
        for _ in range(2)
    ]
    assert statuses == [200, 429]
