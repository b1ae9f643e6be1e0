"""A period and a sub-rectangle over the API."""

import pytest

from heatmaps.models import Release
from tests.services.draws import carry_out

PART = {"since": "2026-03-01", "until": "2026-03-31T20:00:00-04:00", "rectangle": [0.25, 0.25, 0.75, 0.5]}
SHOWN = {"since": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z", "rectangle": PART["rectangle"]}


def test_a_slice_is_quoted_asked_for_and_shown_in_one_spelling(api, dataset, question):
    client = api("analyst")
    quote = client.send("POST", "quotes", "city", body=question(data_slice=PART)).json()
    assert quote["data_slice"] == SHOWN
    answer = client.send("POST", "releases", "city", body=question(data_slice=PART))
    assert answer.status_code == 202
    made = answer.json()
    assert made["data_slice"] == SHOWN
    carry_out(made["id"])
    again = client.send("POST", "releases", "city", body=question(data_slice=SHOWN)).json()
    assert (again["id"], again["state"]) == (made["id"], "published")
    heatmap = client.send("GET", "heatmap", made["id"], "geojson")
    assert heatmap.status_code == 200
    sheet = client.send("GET", "heatmap", made["id"], "json")
    assert b'"part_of_region": {' in b"".join(sheet.streaming_content)


def test_all_of_the_data_is_null_and_the_same_question_as_nothing(api, dataset, question):
    client = api("analyst")
    made = client.send("POST", "releases", "city", body=question(), **{"Idempotency-Key": "k"}).json()
    assert made["data_slice"] == {"since": None, "until": None, "rectangle": None}
    for spelled in (None, {}, {"since": None, "until": None, "rectangle": [0, 0, 1, 1.0]}):
        body = question(data_slice=spelled)
        again = client.send("POST", "releases", "city", body=body, **{"Idempotency-Key": "k"}).json()
        assert again["id"] == made["id"]


@pytest.mark.parametrize(
    "change", [{"since": "2026-03-02"}, {"until": None}, {"rectangle": [0, 0, 0.5, 0.5]}]
)
def test_a_replay_with_another_slice_is_refused(api, dataset, question, change):
    client, key = api("analyst"), {"Idempotency-Key": "k"}
    assert client.send("POST", "releases", "city", body=question(data_slice=PART), **key).status_code == 202
    answer = client.send("POST", "releases", "city", body=question(data_slice=PART | change), **key)
    assert answer.status_code == 422
    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    "refused",
    [
        ({"since": "yesterday"}, 422, "since"),
        ({"since": 5}, 400, "since"),
        ({"until": "2026-02-01"}, 422, "until"),
        ({"until": "2" * 41}, 400, "until"),
        ({"rectangle": [0.25, 0.25, 0.75]}, 400, "rectangle"),
        ({"rectangle": "0,0,1,1"}, 400, "rectangle"),
        ({"rectangle": [0.25, 0.25, 1.75, 0.5]}, 422, "rectangle.east"),
        ({"rectangle": [0.75, 0.25, 0.25, 0.5]}, 422, "rectangle.east"),
        ({"rectangle": [0.25, "0", 0.5, 0.5]}, 400, "rectangle.1"),
        ({"period": "2026"}, 400, "period"),
    ],
)
def test_a_refusal_names_the_field(api, dataset, question, refused):
    change, status, field = refused
    for address in ("quotes", "releases"):
        answer = api("analyst").send("POST", address, "city", body=question(data_slice=PART | change))
        assert answer.status_code == status
        assert answer.json()["errors"][0]["field"] == f"data_slice.{field}"
    assert not Release.objects.exists()
