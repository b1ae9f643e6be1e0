"""How long check-ins are kept, over HTTP."""

from datetime import date

import pytest

from heatmaps.models import Dataset, DataVersion, Event
from tests.api.test_versions import NEW, WEEKLY
from tests.triggers import disabled


def test_it_is_set_when_the_dataset_is_made(api, people):
    made = api("steward").send("POST", "datasets", body=NEW | {"retention_days": 90}).json()
    assert made["retention_days"] == 90
    plain = api("steward").send("POST", "datasets", body=NEW | {"slug": "other"}).json()
    assert plain["retention_days"] is None


def test_it_is_changed_alone_or_with_the_schedule(api, dataset):
    def patch(**body):
        return api("steward").send("PATCH", "dataset", dataset.slug, body=body | {"reason": "agreed"}).json()

    assert patch(retention_days=30)["retention_days"] == 30
    both = patch(retention_days=None, schedule=WEEKLY)
    assert (both["retention_days"], both["schedule"]) == (None, WEEKLY)
    assert patch(retention_days=7)["schedule"] == WEEKLY  # what is not named stays
    assert patch()["retention_days"] == 7
    assert Event.objects.filter(dataset=dataset, kind="retention").count() == 3


@pytest.mark.parametrize(
    "body",
    [
        {"retention_days": 30},
        {"retention_days": 0, "reason": "x"},
        {"retention_days": 36_501, "reason": "x"},
        {"retention_days": "30", "reason": "x"},
        {"retention_days": True, "reason": "x"},
        {"retention_days": 30, "schedule": {"every": "daily", "hour": 24}, "reason": "x"},
        {"retention_days": 30, "schedule": {"every": "weekly", "hour": 2}, "reason": "x"},
    ],
)
def test_it_changes_wholly_or_not_at_all(api, dataset, body):
    answer = api("steward").send("PATCH", "dataset", dataset.slug, body=body)
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"]
    assert Dataset.objects.get(pk=dataset.pk).retention_days is None


def test_versions_say_from_which_day_on_they_have_check_ins(api, dataset):
    with disabled():
        DataVersion.objects.update(kept_from=date(2026, 10, 21))
    for person in ("steward", "analyst"):
        [version] = api(person).send("GET", "versions", dataset.slug).json()["results"]
        assert version["kept_from"] == "2026-10-21"
