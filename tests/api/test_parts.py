"""A period and a sub-rectangle over the API."""

import pytest

from heatmaps import releases
from heatmaps.models import Release

PART = {"since": "2026-03-01", "until": "2026-03-31T20:00:00-04:00", "within": [0.25, 0.25, 0.75, 0.5]}
SHOWN = {"since": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z", "within": PART["within"]}


def test_a_part_is_quoted_asked_for_and_shown_in_one_spelling(api, dataset, question):
    client = api("analyst")
    quote = client.send("POST", "quotes", "city", body=question(**PART)).json()
    assert {name: quote[name] for name in SHOWN} == SHOWN
    answer = client.send("POST", "releases", "city", body=question(**PART))
    assert answer.status_code == 202
    made = answer.json()
    assert {name: made[name] for name in SHOWN} == SHOWN
    releases.run(made["id"])
    again = client.send("POST", "releases", "city", body=question(**SHOWN)).json()
    assert (again["id"], again["state"]) == (made["id"], "published")
    heatmap = client.send("GET", "heatmap", made["id"], "geojson")
    assert heatmap.status_code == 200
    sheet = client.send("GET", "heatmap", made["id"], "json")
    assert b'"part_of_region": {' in b"".join(sheet.streaming_content)


def test_all_of_the_data_is_null_and_the_same_question_as_nothing(api, dataset, question):
    client = api("analyst")
    made = client.send("POST", "releases", "city", body=question(), **{"Idempotency-Key": "k"}).json()
    assert (made["since"], made["until"], made["within"]) == (None, None, None)
    spelled = question(since=None, until=None, within=[0, 0, 1, 1.0])
    again = client.send("POST", "releases", "city", body=spelled, **{"Idempotency-Key": "k"}).json()
    assert again["id"] == made["id"]


@pytest.mark.parametrize("change", [{"since": "2026-03-02"}, {"until": None}, {"within": [0, 0, 0.5, 0.5]}])
def test_a_replay_with_another_part_is_refused(api, dataset, question, change):
    client, key = api("analyst"), {"Idempotency-Key": "k"}
    assert client.send("POST", "releases", "city", body=question(**PART), **key).status_code == 202
    answer = client.send("POST", "releases", "city", body=question(**(PART | change)), **key)
    assert answer.status_code == 422
    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    "refused",
    [
        ({"since": "yesterday"}, 422, "since"),
        ({"since": 5}, 400, "since"),
        ({"until": "2026-02-01"}, 422, "until"),
        ({"until": "2" * 41}, 400, "until"),
        ({"within": [0.25, 0.25, 0.75]}, 400, "within"),
        ({"within": "0,0,1,1"}, 400, "within"),
        ({"within": [0.25, 0.25, 1.75, 0.5]}, 422, "within.east"),
        ({"within": [0.75, 0.25, 0.25, 0.5]}, 422, "within.east"),
        ({"within": [0.25, "0", 0.5, 0.5]}, 400, "within.1"),
        ({"period": "2026"}, 400, "period"),
    ],
)
def test_a_refusal_names_the_field(api, dataset, question, refused):
    change, status, field = refused
    for address in ("quotes", "releases"):
        answer = api("analyst").send("POST", address, "city", body=question(**(PART | change)))
        assert answer.status_code == status
        assert answer.json()["errors"][0]["field"] == field
    assert not Release.objects.exists()
