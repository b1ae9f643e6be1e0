"""Allowances, forecasts, alerts, spending and the ledger's file over the API."""

import json

import pytest

from heatmaps.models import Event

SET = {"account": "presence", "analyst": "analyst", "allowance": "0.6", "reason": "a share each"}


def allowance_of(answer, analyst, account="presence"):
    rows = answer.json()["allowances"]
    return next(row for row in rows if (row["account"], row["analyst"]) == (account, analyst))


def test_it_sets_refuses_and_tells(api, dataset, question):
    made = api("steward").send("POST", "allowances", dataset.slug, body=SET)
    assert made.status_code == 200, made.content
    allowance = allowance_of(made, "analyst")
    assert (allowance["taken"], allowance["available"]) == ("0", "0.6")
    analyst = api("analyst")
    assert analyst.send("POST", "releases", dataset.slug, body=question()).status_code == 202
    refused = analyst.send("POST", "releases", dataset.slug, body=question(epsilon="0.25")).json()
    assert (refused["status"], refused["code"]) == (409, "allowance_exceeded")
    assert (refused["account"], refused["requested"], refused["available"]) == ("presence", "0.25", "0.1")
    allowance = allowance_of(api("steward").send("GET", "allowances", dataset.slug), "analyst")
    assert (allowance["taken"], allowance["available"]) == ("0.5", "0.1")
    quote = analyst.send("POST", "quotes", dataset.slug, body=question(epsilon="0.25")).json()
    assert not quote["affordable"]
    assert "allowance" in quote["problem"]


def test_it_follows_the_default_again(api, dataset):
    steward = api("steward")
    everybody = {"account": "presence", "allowance": "0.3", "reason": "x"}
    steward.send("POST", "allowances", dataset.slug, body=everybody)
    steward.send("POST", "allowances", dataset.slug, body=SET | {"allowance": None})
    own = allowance_of(steward.send("GET", "allowances", dataset.slug), "analyst")
    assert (own["follows_default"], own["allowance"]) == (False, None)
    back = {"account": "presence", "analyst": "analyst", "follows_default": True, "reason": "x"}
    own = allowance_of(steward.send("POST", "allowances", dataset.slug, body=back), "analyst")
    assert (own["follows_default"], own["allowance"]) == (True, "0.3")


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"allowance": 1}, 400, "allowance"),
        ({"allowance": "-1"}, 422, "allowance"),
        ({"follows_default": True}, 422, "allowance"),
        ({"analyst": "stranger"}, 422, "analyst"),
        ({"account": "record"}, 422, "account"),
        ({"reason": "  "}, 422, "reason"),
        ({"extra": 1}, 400, "extra"),
        *(({"follows_default": flag}, 400, "follows_default") for flag in ["yes", "true", "on", 1, 0, 1.0]),
    ],
)
def test_it_says_which_field_is_wrong(api, dataset, change, status, field):
    answer = api("steward").send("POST", "allowances", dataset.slug, body=SET | change)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (status, field)
    assert not Event.objects.filter(kind="allowance").exists()


@pytest.mark.parametrize(("person", "status"), [("analyst", 403), ("auditor", 403), ("stranger", 404)])
def test_it_lets_nobody_else_change_one(api, dataset, person, status):
    assert api(person).send("POST", "allowances", dataset.slug, body=SET).status_code == status


def test_it_forecasts_and_warns(api, dataset, question):
    analyst = api("analyst")
    quote = analyst.send("POST", "quotes", dataset.slug, body=question(epsilon="1")).json()
    assert quote["more_like_this"]["overall"] == 1
    assert analyst.send("POST", "releases", dataset.slug, body=question(epsilon="1.75")).status_code == 202
    (alert,) = analyst.send("GET", "budget", dataset.slug).json()["alerts"]
    assert (alert["account"], alert["percent"], alert["of"]) == ("presence", 80, "limit")


def test_it_tells_where_a_budget_went(api, dataset, queued):
    told = api("auditor").send("GET", "spending", dataset.slug).json()["accounts"][0]
    assert told["by_person"] == [{"name": "analyst", "amount": "0.5", "releases": 1}]
    assert told["by_mechanism"] == [{"name": "sparse-emd", "amount": "0.5", "releases": 1}]
    told = api("analyst").send("GET", "spending", dataset.slug).json()["accounts"][0]
    assert [part["name"] for part in told["by_person"]] == ["you"]


def test_it_filters_and_gives_the_ledger_as_a_file(api, dataset, queued):
    auditor = api("auditor")
    found = auditor.send("GET", "ledger", dataset.slug, query="?kind=reserve&person=analyst").json()
    assert [row["kind"] for row in found["results"]] == ["reserve"]
    assert auditor.send("GET", "ledger", dataset.slug, query="?kind=x").status_code == 400
    assert auditor.send("GET", "ledger", dataset.slug, query="?day=x").status_code == 400
    file = auditor.send("GET", "ledger-file", dataset.slug, "json")
    rows = json.loads(b"".join(file.streaming_content))
    assert len(rows) == Event.objects.count()
    assert api("analyst").send("GET", "ledger-file", dataset.slug, "json").status_code == 403
