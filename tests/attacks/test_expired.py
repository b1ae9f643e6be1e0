"""A reservation that expired is worth nothing, also before the sweep has noticed."""

from datetime import timedelta

import pytest
from django.utils import timezone

from heatmaps import tasks
from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.models import Release
from heatmaps.releases import clock, lifecycle


@pytest.fixture
def expired(start_later, queued):
    Release.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return queued


def test_a_late_worker_does_not_draw_it(dataset, expired, monkeypatch):
    drawn = []
    monkeypatch.setattr(lifecycle, "_draw", lambda *arguments: drawn.append(arguments))

    tasks.release(str(expired.pk))
    clock.tick()
    tasks.release(str(expired.pk))

    assert not drawn
    assert Release.objects.get().state == "cancelled"
    assert dataset.accounts.get(kind="presence").committed == 0
    assert "spend" not in dataset.events.values_list("kind", flat=True)
    assert verify(dataset).ok


def test_it_cannot_be_spent_itself(expired):
    assert not transitions.spend(expired.pk)


def test_its_charge_comes_back_once(api, dataset, expired):
    """By its owner or by the clock, whoever is first."""
    assert api("analyst").send("POST", "release-cancel", expired.pk).status_code == 200
    clock.tick()

    assert dataset.accounts.get(kind="presence").committed == 0
    assert dataset.events.filter(kind="cancel").count() == 1


def test_its_key_does_not_wake_it(api, dataset, question, expired):
    analyst, key = api("analyst"), {"idempotency-key": "k1"}
    made = analyst.send("POST", "releases", dataset.slug, body=question(), **key).json()["id"]
    Release.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    clock.tick()

    again = analyst.send("POST", "releases", dataset.slug, body=question(), **key).json()

    assert (again["id"], again["state"]) == (made, "cancelled")
    tasks.release(made)
    assert Release.objects.get(pk=made).state == "cancelled"
