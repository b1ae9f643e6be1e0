"""Opt-outs over HTTP: nobody's name comes back, stewards only."""

import logging
import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from heatmaps.ingest import uploads
from heatmaps.models import Suppression

NAME = "unmistakable-name"


@pytest.fixture
def enter(api, dataset):
    def post(user=NAME, person="steward"):
        return api(person).send("POST", "opt-outs", dataset.slug, body={"user": user})

    return post


def test_it_answers_with_an_entry_that_names_nobody(enter, api, dataset, caplog):
    with caplog.at_level(logging.DEBUG):
        first, again = enter(), enter(f" {NAME} ")
        listed = api("steward").send("GET", "opt-outs", dataset.slug)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json()["state"] == "waiting"
    assert listed.json()["results"] == [first.json()]
    hashed = str(Suppression.objects.get().person)
    for text in (first.content.decode(), listed.content.decode(), caplog.text):
        assert NAME not in text
        assert hashed not in text


def test_it_is_in_effect_from_the_next_version_on_and_taken_back_by_its_entry(enter, api, dataset, people):
    entry = enter().json()["id"]
    steward = api("steward")

    def state():
        [row] = steward.send("GET", "opt-outs", dataset.slug).json()["results"]
        return row["state"], row["since_version"], row["until_version"]

    uploads.advance(people["steward"], dataset)
    assert state() == ("in_effect", 2, None)
    assert steward.send("DELETE", "opt-out", dataset.slug, entry).status_code == 204
    assert steward.send("DELETE", "opt-out", dataset.slug, entry).status_code == 404  # no more
    assert state() == ("ending", 2, None)
    uploads.advance(people["steward"], dataset)
    assert state() == ("ended", 2, 3)
    assert steward.send("DELETE", "opt-out", dataset.slug, entry).status_code == 404


def test_it_is_taken_back_by_name(enter, api, dataset):
    enter()
    steward = api("steward")
    answers = [steward.send("POST", "opt-out-take-back", dataset.slug, body={"user": NAME}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 409]
    assert NAME not in answers[1].content.decode()
    assert steward.send("GET", "opt-outs", dataset.slug).json()["results"] == []


@pytest.mark.parametrize("body", [{}, {"user": ""}, {"user": " "}, {"user": 7}, {"users": [NAME]}, []])
def test_it_refuses_what_names_nobody(api, dataset, body):
    answer = api("steward").send("POST", "opt-outs", dataset.slug, body=body)
    assert answer.status_code in {400, 422}
    assert NAME not in answer.content.decode()
    assert not Suppression.objects.exists()


@pytest.mark.parametrize(("person", "status"), [("analyst", 403), ("auditor", 403), ("stranger", 404)])
def test_it_is_for_stewards_only(enter, api, dataset, person, status):
    entry = enter().json()["id"]
    client = api(person)
    for method, name, arguments, body in (
        ("GET", "opt-outs", (), None),
        ("POST", "opt-outs", (), {"user": "other"}),
        ("POST", "opt-out-take-back", (), {"user": NAME}),
        ("DELETE", "opt-out", (entry,), None),
    ):
        answer = client.send(method, name, dataset.slug, *arguments, body=body)
        assert answer.status_code == status, (method, name)
    assert Suppression.objects.count() == 1


@pytest.mark.parametrize("damage", ["missing", "different"])
def test_every_way_to_keyed_values_asks_for_the_datasets_own_key(api, dataset, settings, damage):
    path = settings.KEY_DIR / f"{dataset.slug}-{dataset.key_fingerprint[:12]}.key"
    kept, began = path.read_text(), time.time() - 1
    path.unlink() if damage == "missing" else path.write_text("00" * 32)
    steward = api("steward")
    csv, ndjson = {"content_type": "text/csv"}, {"content_type": "application/x-ndjson"}
    try:
        answers = [
            steward.send("POST", "opt-outs", dataset.slug, body={"user": NAME}),
            steward.send("POST", "opt-out-take-back", dataset.slug, body={"user": NAME}),
            steward.send("POST", "uploads", dataset.slug, body=b"user,lat,lon\na,0,0\n", **csv),
            steward.send("POST", "checkins", dataset.slug, body=b'{"user":"a","lat":0,"lon":0}', **ndjson),
            steward.send("POST", "checkins", dataset.slug, body=[{"user": "a", "lat": 0, "lon": 0}]),
            steward.post(
                reverse("api:uploads", args=[dataset.slug]),
                {"file": [SimpleUploadedFile(name, b"user,lat,lon\na,0,0\n") for name in "ab"]},
            ),
        ]
    finally:
        path.write_text(kept)
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (
            503,
            "key_missing" if damage == "missing" else "key_mismatch",
        )
        assert "restore it from the backup" in answer.json()["detail"]
        assert NAME not in answer.content.decode()
    assert not Suppression.objects.exists()
    assert dataset.uploads.count() == 1
    assert not [path for path in settings.UPLOAD_DIR.iterdir() if path.stat().st_mtime >= began]
