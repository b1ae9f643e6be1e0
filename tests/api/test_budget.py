"""The budget's ETag, and limits that are changed by somebody who has seen them."""

import json

import pytest

from heatmaps.models import Account, Event
from mechanisms.guarantee import Relation

RAISE = {"limits": {"presence": "3"}, "reason": "agreed in March"}


def change(client, slug, body, seen="*"):
    return client.send("PATCH", "budget", slug, body=body, **({} if seen is None else {"if-match": seen}))


def test_it_changes_what_was_seen(api, dataset):
    steward = api("steward")
    seen = steward.send("GET", "budget", dataset.slug)["ETag"]

    changed = change(steward, dataset.slug, RAISE, seen)

    assert changed.status_code == 200
    assert changed.json()["accounts"][0]["limit"] == "3"
    assert changed["ETag"] != seen
    assert changed["ETag"] == steward.send("GET", "budget", dataset.slug)["ETag"]
    event = Event.objects.filter(kind="limit").get()
    assert event.actor.username == "steward"
    assert json.loads(event.after)["reason"] == "agreed in March"


def test_it_needs_to_know_what_was_seen(api, dataset):
    answer = change(api("steward"), dataset.slug, RAISE, None)

    assert (answer.status_code, answer.json()["code"]) == (428, "precondition_required")
    assert not Event.objects.filter(kind="limit").exists()


@pytest.mark.parametrize("seen", ["W/", "", '"x"', "0"])
def test_it_refuses_what_nobody_has_seen(api, dataset, seen):
    tag = api("steward").send("GET", "budget", dataset.slug)["ETag"]

    answer = change(api("steward"), dataset.slug, RAISE, seen + tag if seen == "W/" else seen)

    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")


def test_it_refuses_to_change_a_budget_that_moved(api, dataset, question):
    """A limit by somebody else, or a release: both may change one's mind."""
    steward = api("steward")
    for move in (
        lambda: change(api("administrator"), dataset.slug, RAISE),
        lambda: api("analyst").send("POST", "releases", dataset.slug, body=question()),
    ):
        seen = steward.send("GET", "budget", dataset.slug)["ETag"]
        assert move().status_code in {200, 202}

        assert change(steward, dataset.slug, RAISE, seen).status_code == 412


def test_it_is_the_same_tag_while_nothing_moves(api, dataset, queued):
    first, second = (api(name).send("GET", "budget", dataset.slug) for name in ("steward", "analyst"))

    assert first["ETag"] == second["ETag"]
    assert first.content == second.content


def test_it_changes_all_limits_or_none(api, make_dataset):
    make_dataset("fleet", Relation.REPLACE)
    body = {"limits": {"radius": "1.5", "record": "0.5", "delta": "2"}, "reason": "no"}

    answer = change(api("steward"), "fleet", body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "limits.delta"
    assert not Event.objects.filter(kind="limit").exists()


def test_it_exchanges_the_only_limit_for_another(api, make_dataset):
    fleet = make_dataset("fleet", Relation.REPLACE)

    answer = change(api("steward"), "fleet", {"limits": {"record": None, "radius": "1"}, "reason": "radius"})

    assert answer.status_code == 200
    limits = dict(Account.objects.filter(dataset=fleet).values_list("kind", "limit"))
    assert limits == {"record": None, "radius": 10**12, "delta": 0}


@pytest.mark.parametrize(
    "case",
    [
        ({"limits": {"presence": "3"}}, 400, "reason"),
        ({"limits": {"presence": 3}, "reason": "x"}, 400, "limits.presence"),
        ({"limits": {"presence": 3.5}, "reason": "x"}, 400, "limits.presence"),
        ({"limits": {"presence": None}, "reason": "x"}, 400, "limits.presence"),
        ({"limits": {"epsilon": "3"}, "reason": "x"}, 400, "limits.epsilon"),
        ({"limits": {"record": "3"}, "reason": "x"}, 422, "limits.record"),
        ({"limits": {"presence": "3"}, "reason": "  "}, 422, "reason"),
        ({"limits": {"presence": "0.0000000000001"}, "reason": "x"}, 422, "limits.presence"),
        ({"limits": {"presence": "1e30"}, "reason": "x"}, 422, "limits.presence"),
        ({"limits": {"presence": "٣"}, "reason": "x"}, 422, "limits.presence"),
        ({"limits": {"presence": "-1"}, "reason": "x"}, 422, "limits.presence"),
        ({"limits": {"presence": "0.1"}, "reason": "x"}, 422, "limit"),  # 0.5 is taken
    ],
)
def test_it_refuses_a_limit_that_is_none(api, dataset, queued, case):
    body, *expected = case

    answer = change(api("steward"), dataset.slug, body)

    assert [answer.status_code, answer.json()["errors"][0]["field"]] == expected
    assert Account.objects.get(dataset=dataset, kind="presence").limit == 2 * 10**12
