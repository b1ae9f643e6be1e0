"""/healthz: what it takes to be well, and that it says nothing else."""

import json
from unittest import mock

import pytest
from django.db import DatabaseError
from django.test.utils import override_settings
from kombu.exceptions import OperationalError

from heatmaps.http import health
from heatmaps.models import Dataset
from tests.services import seed
from tests.services.draws import carry_out

PING = "heatmaps.http.health.current_app.control.broadcast"


@pytest.fixture
def worker():
    with mock.patch(PING, return_value=[{"worker": {"ok": "pong"}}]) as ping:
        yield ping


@pytest.fixture(autouse=True)
def forget_everything(monkeypatch):
    monkeypatch.setattr(health, "FRESH_SECONDS", 0)
    monkeypatch.setattr(health, "_looked", [])
    health._check_migrations.cache_clear()
    yield
    health._check_migrations.cache_clear()


def told(client):
    answer = client.get("/healthz")
    assert answer["Cache-Control"].startswith("max-age=0")
    return answer.status_code, json.loads(answer.content).get("reason")


def test_it_is_well_for_anybody_who_asks(client, db, worker):
    assert told(client) == (200, None)


def test_it_is_not_well_without_a_worker(client, db, worker):
    worker.return_value = []
    assert told(client) == (503, "no worker answers")
    worker.side_effect = OperationalError("redis://secret@host")
    assert told(client) == (503, "the broker does not answer")


def test_it_is_not_well_before_the_last_migration(client, db, worker, monkeypatch):
    plan = [(mock.Mock(), False)]
    with mock.patch("heatmaps.schema.MigrationExecutor.migration_plan", return_value=plan):
        assert told(client) == (503, "the database is not migrated")
    assert told(client) == (200, None)


def test_it_is_not_well_without_its_database(client, db, worker):
    with mock.patch.object(health.Dataset.objects, "filter", side_effect=DatabaseError("host=secret")):
        assert told(client) == (503, "the database does not answer")


def test_who_asks_waits_for_no_worker(client, db, worker, monkeypatch):
    monkeypatch.setattr(health, "FRESH_SECONDS", 3600)
    health.look()
    worker.side_effect = OperationalError("busy")
    for _ in range(3):
        assert told(client) == (200, None)
    assert worker.call_count == 1


@override_settings(CELERY_TASK_ALWAYS_EAGER=True)
def test_it_waits_for_the_first_release_of_a_demo(client, db, worker, django_user_model):
    steward = django_user_model.objects.create_user("steward")
    dataset = seed.make_dataset(steward, "demo-city")
    assert told(client) == (200, None)
    Dataset.objects.update(is_demo=True)
    assert told(client) == (503, "the demo's first release is not published yet")
    seed.add_checkins(dataset)
    from heatmaps.releases import lifecycle

    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    release = lifecycle.request_release(steward, dataset, request)
    assert told(client)[0] == 503
    carry_out(release.pk)
    assert told(client) == (200, None)
