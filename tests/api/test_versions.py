"""Data versions and their schedule over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from heatmaps.ingest.versions import scheduled as scheduling
from heatmaps.models import Dataset, Event

DAILY = {"every": "daily", "hour": 3}
WEEKLY = {"every": "weekly", "hour": 0, "weekday": "monday"}
NEW = {"slug": "new-city", "title": "A city", "bbox": [0, 0, 1, 1], "relation": "add_remove"} | {
    "limits": {"presence": "1"}
}


def overdue(dataset):
    Dataset.objects.filter(pk=dataset.pk).update(next_version_at=F("next_version_at") - timedelta(days=1))


@pytest.fixture
def scheduled(api, dataset):
    body = {"schedule": DAILY, "reason": "as announced"}
    assert api("steward").send("PATCH", "dataset", dataset.slug, body=body).status_code == 200
    return dataset


def test_a_dataset_is_made_with_a_schedule_that_its_members_see(api, people):
    made = api("steward").send("POST", "datasets", body=NEW | {"schedule": WEEKLY}).json()
    assert made["schedule"] == WEEKLY
    assert datetime.fromisoformat(made["next_version_at"]).weekday() == 0


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        ({"every": "hourly", "hour": 3}, "schedule.every"),
        ({"every": "daily", "hour": 24}, "schedule.hour"),
        ({"every": "daily"}, "schedule.hour"),
        ({"every": "weekly", "hour": 3}, "schedule.weekday"),
        ({"every": "monthly", "hour": 3, "day": 31}, "schedule.day"),
        ("daily", "schedule"),
    ],
)
def test_it_says_what_is_wrong_with_a_schedule(api, people, schedule, field):
    answer = api("steward").send("POST", "datasets", body=NEW | {"schedule": schedule})
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"][0]["field"] == field
    assert not Dataset.objects.filter(slug="new-city").exists()


def test_everybody_sees_when_the_next_version_comes(api, scheduled):
    overdue(scheduled)
    scheduling.advance_due(scheduled.pk, datetime.now(UTC))
    for person in ("steward", "analyst", "auditor"):
        told = api(person).send("GET", "versions", scheduled.slug).json()
        assert told["schedule"] == DAILY
        assert told["next_version_at"].endswith("T03:00:00Z")
        assert [(row["number"], row["scheduled"]) for row in told["results"]] == [(2, True), (1, False)]
        assert told["results"][0]["created_at"].endswith("T03:00:00Z")


def test_a_steward_does_not_advance_out_of_turn(api, scheduled):
    answer = api("steward").send("POST", "versions", scheduled.slug, body={})
    assert (answer.status_code, answer.json()["code"]) == (409, "scheduled")
    assert scheduled.versions.count() == 1


def test_lifting_the_schedule_is_in_the_ledger_with_its_reason(api, scheduled):
    body = {"schedule": None, "reason": "by hand for now"}
    answer = api("steward").send("PATCH", "dataset", scheduled.slug, body=body)
    assert (answer.status_code, answer.json()["schedule"]) == (200, None)
    assert "by hand for now" in Event.objects.filter(dataset=scheduled).latest("sequence").after
    assert api("steward").send("POST", "versions", scheduled.slug, body={}).status_code == 201


@pytest.mark.parametrize("reason", [None, "", "a\nb", "x" * 501])
def test_it_asks_for_a_reason(api, dataset, reason):
    body = {"schedule": DAILY} | ({} if reason is None else {"reason": reason})
    answer = api("steward").send("PATCH", "dataset", dataset.slug, body=body)
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"][0]["field"] == "reason"
    assert Dataset.objects.get(pk=dataset.pk).schedule == ""


@pytest.mark.parametrize(("person", "status"), [("analyst", 403), ("auditor", 403), ("stranger", 404)])
def test_only_stewards_change_it(api, dataset, person, status):
    body = {"schedule": DAILY, "reason": "why not"}
    assert api(person).send("PATCH", "dataset", dataset.slug, body=body).status_code == status


def test_it_finds_datasets_by_words_of_title_and_slug(api, make_dataset):
    for slug in ("north-sea", "south-sea"):
        make_dataset(slug)
    found = api("analyst").send("GET", "datasets", query="?search=CITY%20north").json()
    assert [row["slug"] for row in found["results"]] == ["north-sea"]
    assert api("analyst").send("GET", "datasets", query="?search=" + "x" * 121).status_code == 400
