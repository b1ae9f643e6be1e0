"""How long check-ins are kept, on the pages of a dataset."""

from datetime import date

import pytest
from django.urls import reverse

from heatmaps.models import Dataset, DataVersion, Event
from tests.triggers import disabled

AUSTIN = {"west": "-98.3", "south": "29.8", "east": "-97.3", "north": "31.0"}
TYPED = {"title": "Austin", "relation": "add_remove", "presence_limit": "4", "delta_limit": "0"} | AUSTIN


def days(dataset):
    return Dataset.objects.get(pk=dataset.pk).retention_days


def test_it_is_set_when_the_dataset_is_made(client_of, people):
    client_of("analyst").post(reverse("dataset-new"), TYPED | {"retention_days": "90"})
    assert Dataset.objects.get().retention_days == 90
    page = client_of("analyst").get(reverse("dataset-data", args=["austin"])).content.decode()
    assert "Check-ins are kept for <strong>90 days</strong>" in page


def test_a_steward_changes_it_with_a_reason_that_all_may_read(client_of, dataset):
    page = reverse("retention", args=[dataset.slug])
    assert "Now: for ever." in client_of("steward").get(page).content.decode()
    answer = client_of("steward").post(page, {"retention_days": "1", "reason": "as promised"})
    assert (answer.status_code, days(dataset)) == (302, 1)
    assert "Now: 1 day." in client_of("steward").get(page).content.decode()
    ledger = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()
    assert "How long check-ins are kept set" in ledger
    assert "as promised" in ledger
    assert "1 day" in ledger
    client_of("steward").post(page, {"retention_days": "", "reason": "no need"})
    assert days(dataset) is None


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"retention_days": "0", "reason": "x"}, "retention_days"),
        ({"retention_days": "36501", "reason": "x"}, "retention_days"),
        ({"retention_days": "٣", "reason": "x"}, "retention_days"),
        ({"retention_days": "1.5", "reason": "x"}, "retention_days"),
        ({"retention_days": "30", "reason": " "}, "reason"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client_of, dataset, typed, field):
    answer = client_of("steward").post(reverse("retention", args=[dataset.slug]), typed)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Event.objects.filter(kind="retention").exists()


def test_only_stewards_are_told_how_many_were_deleted(client_of, dataset, upload):
    upload.rows_expired = 7_654
    upload.save()
    with disabled():
        DataVersion.objects.update(kept_from=date(2026, 10, 21))
    page = reverse("dataset-data", args=[dataset.slug])
    assert "7,654 deleted" in client_of("steward").get(page).content.decode()
    for person in ("analyst", "auditor"):
        told = client_of(person).get(page).content.decode()
        assert 'without check-ins before <time datetime="2026-10-21">' in told
        assert "7,654" not in told
        assert "too old" not in told
