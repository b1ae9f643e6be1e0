"""A restored dataset at the API: it is nobody's until a steward confirms its members and opt-outs."""

from datetime import datetime

import pytest

from heatmaps.ledger import transitions
from heatmaps.models import AccountKind
from heatmaps.releases.lifecycle import ReleaseRequest, request_release

QUESTION = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16}
CONFIRMED = {"members": [], "opt_outs_entered": True}


@pytest.fixture
def restore():
    def make(dataset, **facts):
        charges = {AccountKind.PRESENCE: 10**12}
        unknown = transitions.Unknown(charges=charges, other_copy="stopped", reason="a test", **facts)
        return transitions.restore(dataset, unknown)

    return make


@pytest.fixture
def restored(dataset, restore):
    restore(dataset)
    return dataset


def test_it_shows_what_came_back(api, people, restored):
    answer = api("steward").send("GET", "restoration", restored.slug)

    told = answer.json()
    assert told["confirmed_at"] is told["confirmed_by"] is None
    known_until, resumed_at = (datetime.fromisoformat(told[name]) for name in ("known_until", "resumed_at"))
    assert known_until <= resumed_at
    assert told["asks_opt_outs"] is True
    assert told["charges"] == [
        {"account": "presence", "amount": "1"},
        {"account": "delta", "amount": "0"},
    ]
    assert [(row["username"], row["role"]) for row in told["members"]] == [
        ("analyst", "analyst"),
        ("auditor", "auditor"),
    ]


def test_it_confirms(api, people, restored):
    steward = api("steward")
    body = {"members": [people["auditor"].pk], "opt_outs_entered": True}
    told = steward.send("POST", "restoration", restored.slug, body=body).json()

    assert told["confirmed_by"] == "steward"
    assert [row["username"] for row in told["members"]] == ["auditor"]
    assert steward.send("GET", "restoration", restored.slug).json() == told
    assert api("auditor").send("GET", "dataset", restored.slug).status_code == 200
    again = steward.send("POST", "restoration", restored.slug, body=body)
    assert (again.status_code, again.json()["code"]) == (409, "nothing_restored")


def test_there_is_none_without_a_restore(api, dataset):
    assert api("steward").send("GET", "restoration", dataset.slug).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"members": []}, 422, "opt_outs_entered"),
        ({"members": [10**9], "opt_outs_entered": True}, 422, "members"),
        ({"opt_outs_entered": True}, 400, "members"),
        ({"members": ["auditor"], "opt_outs_entered": True}, 400, "members.0"),
    ],
)
def test_it_refuses_half_a_confirmation(api, restored, body, status, field):
    answer = api("steward").send("POST", "restoration", restored.slug, body=body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (status, field)
    assert restored.memberships.count() == 3


def test_it_asks_for_no_opt_outs_that_the_record_had(api, dataset, restore):
    restore(dataset, opt_outs_replayed=True)
    steward = api("steward")
    assert steward.send("GET", "restoration", dataset.slug).json()["asks_opt_outs"] is False

    assert steward.send("POST", "restoration", dataset.slug, body={"members": []}).status_code == 200


def test_a_question_is_refused_until_then(api, restored):
    steward = api("steward")
    assert steward.send("POST", "quotes", restored.slug, body=QUESTION).status_code == 200
    answer = steward.send("POST", "releases", restored.slug, body=QUESTION)

    assert (answer.status_code, answer.json()["code"]) == (503, "on_hold")
    assert answer.json()["detail"].startswith("This dataset was restored from a backup")

    steward.send("POST", "restoration", restored.slug, body=CONFIRMED)
    assert steward.send("POST", "releases", restored.slug, body=QUESTION).status_code == 202


@pytest.mark.parametrize("person", ["analyst", "auditor"])
def test_lists_of_members_do_not_have_it(api, people, restored, person):
    client = api(person)
    assert client.send("GET", "datasets").json()["count"] == 0
    for name in ("dataset", "releases", "budget", "members", "spending", "versions"):
        assert client.send("GET", name, restored.slug).status_code == 404, name

    api("steward").send(
        "POST", "restoration", restored.slug, body=CONFIRMED | {"members": [people[person].pk]}
    )
    assert client.send("GET", "datasets").json()["count"] == 1


def test_spending_and_balance_have_what_was_charged(api, people, dataset, restore):
    request = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    request_release(people["steward"], dataset, request)
    restore(dataset)
    steward = api("steward")
    [presence, _] = steward.send("GET", "budget", dataset.slug).json()["accounts"]
    [spent, _] = steward.send("GET", "spending", dataset.slug).json()["accounts"]

    assert (presence["committed"], presence["available"]) == ("1.5", "0.5")
    unknown = {"name": "not known (the database was restored)", "amount": "1", "releases": 0}
    for by in ("by_person", "by_mechanism", "by_day"):
        assert unknown in spent[by], by
