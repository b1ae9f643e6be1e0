"""The whole way over HTTP: token, dataset, check-ins, version, quote, release, map, ledger, budget."""

import io
import json

import numpy as np
import pytest
from django.urls import reverse

from heatmaps.exports import FORMATS
from heatmaps.models import Release

NEW = {
    "slug": "austin",
    "title": "Austin",
    "bbox": [-98.3, 29.8, -97.3, 31.0],
    "relation": "add_remove",
    "limits": {"presence": "1.0", "delta": "0"},
    "expected_persons": 100,
}
ROWS = "".join(f"u{at % 30},2025-03-01T08:30:00Z,30.{at % 10},-98.0{at % 7}\n" for at in range(300))
CSV = f"user,time,lat,lon\n{ROWS}".encode()


@pytest.mark.django_db(transaction=True)
def test_it_goes_the_whole_way(people, client_of_token, work, question):
    people["steward"].set_password("long enough to pass")
    people["steward"].save()
    asked = {"username": "steward", "password": "long enough to pass", "name": "walk"}
    scopes = ["read", "release", "steward"]
    secret = client_of_token().send("POST", "tokens", body=asked | {"scopes": scopes}).json()["token"]
    me = client_of_token(secret)

    made = me.send("POST", "datasets", body=NEW)
    assert made.status_code == 201
    assert made["Location"].endswith("/api/v1/datasets/austin/")
    assert made.json()["roles"] == ["steward"]
    assert made.json()["version"] is None

    sent_file = me.send("POST", "uploads", "austin", body=CSV, content_type="text/csv")
    assert sent_file.json()["state"] == "received"
    work()
    upload = me.get(sent_file["Location"]).json()
    assert (upload["state"], upload["rows_accepted"], upload["version"]) == ("ready", 300, 1)
    assert me.send("GET", "versions", "austin").json()["count"] == 1

    quote = me.send("POST", "quotes", "austin", body=question()).json()
    assert quote["affordable"] is True
    assert {line["account"]: line["amount"] for line in quote["accounts"]} == {
        "presence": "0.5",
        "delta": "0",
    }

    asked_for = me.send("POST", "releases", "austin", body=question())
    assert asked_for.status_code == 202
    assert asked_for.json()["state"] == "queued"
    work()
    done = me.get(asked_for["Location"]).json()
    assert done["state"] == "published"
    assert done["guarantee"]["terms"][0]["cap"] == "1/2"
    assert set(done["links"]["heatmap"]) == {suffix.removeprefix(".") for suffix in FORMATS}

    array = np.load(io.BytesIO(b"".join(me.get(done["links"]["heatmap"]["npy"]).streaming_content)))
    assert array.shape == (16, 16)
    assert array.sum() == pytest.approx(1)
    sheet = json.loads(b"".join(me.get(done["links"]["sheet"]).streaming_content))
    assert sheet["epsilon"] == "0.5"

    accounts = me.send("GET", "budget", "austin").json()["accounts"]
    assert accounts[0] == {
        "account": "presence",
        "limit": "1",
        "committed": "0.5",
        "available": "0.5",
    }
    kinds = [event["kind"] for event in me.send("GET", "ledger", "austin").json()["results"]]
    assert kinds == ["open", "version", "reserve", "spend", "publish"]


def test_it_hands_out_every_file_of_the_pages(api, client_of, published):
    offered = {known.name for known in FORMATS.values()} | {known.download for known in FORMATS.values()}
    for suffix in sorted(offered | {"json", "yaml"}):
        answer = api("analyst").send("GET", "heatmap", published.pk, suffix)
        page = client_of("analyst").get(reverse("release-download", args=[published.pk, suffix]))

        assert (answer.status_code, page.status_code) == (200, 200), suffix
        assert answer["Content-Disposition"] == page["Content-Disposition"]
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["Content-Disposition"].endswith(f'.{suffix}"')
        assert b"".join(answer.streaming_content) == b"".join(page.streaming_content) != b""


@pytest.mark.parametrize("suffix", ["npx", "npy.gz", "json.zip", "NPY"])
def test_it_knows_no_other_format(api, published, suffix):
    assert api("analyst").send("GET", "heatmap", published.pk, suffix).status_code == 404


def test_it_has_no_map_of_a_queued_release(api, queued):
    answer = api("analyst").send("GET", "heatmap", queued.pk, "npy")

    assert (answer.status_code, answer.json()["detail"]) == (404, "This release has no map")


def test_it_refuses_more_than_is_left_and_says_how_much(api, dataset, question):
    analyst = api("analyst")
    analyst.send("POST", "releases", dataset.slug, body=question(epsilon="1.25"))

    refused = analyst.send("POST", "releases", dataset.slug, body=question(epsilon="1"))

    problem = refused.json()
    assert refused.status_code == 409
    assert problem["code"] == "budget_exceeded"
    assert (problem["account"], problem["requested"]) == ("presence", "1")
    assert (problem["available"], problem["reserved"]) == ("0.75", "1.25")
    assert Release.objects.count() == 1


def test_it_refuses_a_release_before_the_first_version(api, make_dataset, question):
    make_dataset("empty")

    answer = api("analyst").send("POST", "releases", "empty", body=question())

    assert (answer.status_code, answer.json()["code"]) == (409, "no_data_version")


def test_it_gives_a_published_answer_again_for_nothing(api, dataset, published, question):
    analyst = api("analyst")
    before = analyst.send("GET", "budget", dataset.slug).content

    again = analyst.send("POST", "releases", dataset.slug, body=question())
    quote = analyst.send("POST", "quotes", dataset.slug, body=question()).json()

    assert again.json()["id"] == str(published.pk)
    assert quote["same_release"].endswith(f"/{published.pk}/")
    assert analyst.send("GET", "budget", dataset.slug).content == before


def test_it_answers_the_same_key_with_the_same_release(api, dataset, question):
    analyst = api("analyst")

    first, second = (
        analyst.send("POST", "releases", dataset.slug, body=question(), **{"idempotency-key": "k1"})
        for _ in range(2)
    )
    other = analyst.send("POST", "releases", dataset.slug, body=question(), **{"idempotency-key": "k2"})

    assert first.json() == second.json()
    assert first["Location"] == second["Location"]
    assert other.json()["id"] != first.json()["id"]


def test_it_refuses_the_same_key_for_another_body(api, dataset, question):
    analyst = api("analyst")
    key = {"idempotency-key": "k1"}
    analyst.send("POST", "releases", dataset.slug, body=question(), **key)

    refused = analyst.send("POST", "releases", dataset.slug, body=question(epsilon="0.25"), **key)

    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_conflict")
    assert Release.objects.count() == 1


@pytest.mark.parametrize("key", ["", "x" * 121, "\xe9"])
def test_it_refuses_a_key_that_is_none(api, dataset, question, key):
    answer = api("analyst").send(
        "POST", "releases", dataset.slug, body=question(), **{"idempotency-key": key}
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


def test_it_cancels_a_release_and_gives_its_charge_back(start_later, api, dataset, queued):
    analyst = api("analyst")

    cancelled = analyst.send("POST", "release-cancel", queued.pk)

    assert cancelled.json()["state"] == "cancelled"
    assert "cancel" not in cancelled.json()["links"]
    account = analyst.send("GET", "budget", dataset.slug).json()["accounts"][0]
    assert account["committed"] == "0"
    assert analyst.send("POST", "release-cancel", queued.pk).json()["code"] == "too_late_to_cancel"


def test_it_makes_a_dataset_of_the_other_relation(api):
    limits = {"record": None, "radius": "1.5", "delta": "0.000001"}
    new = NEW | {"relation": "replace", "limits": limits, "radius_m": 600, "persons": 40}
    del new["expected_persons"]

    made = api("stranger").send("POST", "datasets", body=new)

    assert made.status_code == 201
    assert (made.json()["persons"], made.json()["radius_m"]) == (40, 600)
    accounts = api("stranger").send("GET", "budget", "austin").json()["accounts"]
    assert [row["limit"] for row in accounts] == [None, "1.5", "0.000001"]


def test_a_quote_finds_the_epsilon_of_a_wished_error(api, dataset, question):
    body = question(mechanism="adaptive")
    epsilon = body.pop("epsilon")
    client = api("analyst")

    answer = client.send("POST", "quotes", dataset.slug, body=body | {"error_m": "30000"})
    both = client.send("POST", "quotes", dataset.slug, body=body | {"error_m": "3", "epsilon": epsilon})
    neither = client.send("POST", "quotes", dataset.slug, body=body)

    found = answer.json()["epsilon"]
    again = client.send("POST", "quotes", dataset.slug, body=body | {"epsilon": found})
    assert answer.json() == again.json()
    assert (both.status_code, neither.status_code) == (422, 422)
