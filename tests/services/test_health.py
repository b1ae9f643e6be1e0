"""/healthz: what it takes to be well, and that it says nothing else."""

import json
import time
from unittest import mock

import pytest
from django.db import DatabaseError, connection
from django.test.utils import override_settings
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError as RedisGone

from heatmaps.http import health
from heatmaps.models import Dataset, Heartbeat
from heatmaps.releases.heartbeat import DatabaseHeartbeat, ThreadHeartbeat
from tests.services import seed
from tests.services.draws import carry_out

ASK = "heatmaps.http.health.heartbeats.ages"
DRAWS, FILES, LAKES = "draws", "celery", "lakes"  # queues


@pytest.fixture
def workers(db):
    """How long ago workers said that they take from their queues; and the clock beats."""
    DatabaseHeartbeat().beat()
    with mock.patch(ASK, return_value=dict.fromkeys((DRAWS, FILES), 0)) as ages:
        yield ages


@pytest.fixture(autouse=True)
def forget_everything(monkeypatch):
    monkeypatch.setattr(health, "FRESH_SECONDS", 0)
    monkeypatch.setattr(health, "_memory", health._Memory())
    health._check_migrations.cache_clear()
    yield
    health._check_migrations.cache_clear()


def answered(client):
    answer = client.get("/healthz")
    assert answer["Cache-Control"].startswith("max-age=0")
    content = json.loads(answer.content)
    return answer.status_code, content.get("reason"), content.get("missing")


def test_it_is_well_for_anybody_who_asks(client, workers):
    assert answered(client) == (200, None, None)


@pytest.mark.parametrize(
    ("taken", "missing", "reason"),
    [
        ([FILES], ["draws"], "no worker draws releases"),
        ([DRAWS], ["files"], "no worker reads files"),
        ([DRAWS, FILES, LAKES], [], ""),
        ([], ["draws", "files"], "no worker draws releases; no worker reads files"),
    ],
)
def test_each_queue_needs_a_worker(client, workers, taken, missing, reason):
    """A worker that is alive but was told to take nothing more from its queue is none."""
    workers.return_value = dict.fromkeys(taken, 0)
    assert answered(client) == ((503, reason, missing) if missing else (200, None, None))


def test_lakes_need_theirs_where_they_are_configured(client, workers, settings, tmp_path):
    settings.SOURCES_FILE = tmp_path / "sources.toml"
    reason = "no worker draws from lakes; no worker looks at lakes for new versions"
    assert answered(client) == (503, reason, ["lakes", "surveys"])


@pytest.mark.parametrize("error", [OperationalError("redis://secret@host"), RedisGone("secret"), KeyError(7)])
def test_it_is_not_well_without_its_broker(client, workers, error):
    """What its client raises when Redis is started again is no error of ours."""
    workers.side_effect = error
    assert answered(client) == (503, "the broker does not answer", ["broker"])


def test_a_worker_whose_last_beat_is_lost_is_given_time(client, workers, settings):
    """As when Redis is started again, which keeps nothing."""
    answered(client)
    workers.return_value = {}
    assert answered(client)[0] == 200
    workers.return_value = {DRAWS: settings.SILENCE_SECONDS + 1, FILES: 0}
    assert answered(client)[2] == ["draws"]
    workers.return_value = dict.fromkeys((DRAWS, FILES), 0)
    assert answered(client)[0] == 200
    settings.SILENCE_SECONDS = 0
    assert answered(client)[2] == ["clock", "draws", "files"]


def test_the_clock_must_have_ticked_a_short_while_ago(client, workers, settings):
    Heartbeat.objects.all().delete()
    assert answered(client) == (503, "the clock does not run", ["clock"])
    clock = DatabaseHeartbeat()
    clock.beat()
    assert answered(client)[0] == 200
    with connection.execute_wrapper(refuse):
        clock.beat()  # another one so soon writes nothing
    Heartbeat.objects.update(beaten_at="2001-01-01T00:00:00Z")
    assert answered(client)[2] == ["clock"]
    Heartbeat.objects.update(beaten_at="2222-01-01T00:00:00Z")  # of a database that was set back
    assert answered(client)[2] == ["clock"]
    DatabaseHeartbeat().beat()
    assert answered(client)[0] == 200
    assert Heartbeat.objects.count() == 1


def test_a_clock_of_this_process_writes_nothing(settings):
    """This test may not use the database."""
    clock = ThreadHeartbeat()
    assert not clock.is_beating()
    clock.beat()
    assert clock.is_beating()
    settings.SILENCE_SECONDS = 0
    assert not clock.is_beating()


def test_what_is_embedded_is_asked_without_a_broker(client, db):
    states = {health.HealthPart.CLOCK: True, health.HealthPart.DRAWS: False, health.HealthPart.FILES: False}
    health.embed(lambda: states)
    assert answered(client)[2] == ["draws", "files"]
    assert health.latest().states == {health.HealthPart.DATABASE: True} | states


def test_it_is_not_well_before_the_last_migration(client, workers):
    plan = [(mock.Mock(), False)]
    with mock.patch("heatmaps.schema.MigrationExecutor.migration_plan", return_value=plan):
        assert answered(client) == (503, "the database is not migrated", [])
    assert answered(client)[0] == 200


def test_it_is_not_well_without_its_database(client, workers):
    """Nobody can say then whether the clock runs."""
    with connection.execute_wrapper(refuse):
        assert answered(client) == (503, "the database does not answer", ["database"])
        assert health.latest().states[health.HealthPart.CLOCK] is None


def refuse(*_others):
    raise DatabaseError("host=secret")


@pytest.mark.parametrize("part", [health.HealthPart.DATABASE, health.HealthPart.BROKER])
def test_what_hangs_is_missing_and_nobody_waits_for_it(client, workers, settings, part):
    health.look()
    health._memory.pending = part, time.monotonic() - settings.SILENCE_SECONDS
    with mock.patch.object(health, "look", side_effect=AssertionError):
        assert answered(client)[2] == [part]


def test_who_asks_waits_for_no_worker(client, workers, monkeypatch):
    monkeypatch.setattr(health, "FRESH_SECONDS", 3600)
    health.look()
    workers.side_effect = OperationalError("busy")
    for _ in range(3):
        assert answered(client)[0] == 200
    assert workers.call_count == 1


def test_whoever_looks_goes_on_whatever_a_look_raises(workers, monkeypatch):
    """Else every answer from then on would be of the last look, or an error."""
    monkeypatch.setattr(health, "WATCH_SECONDS", 0)
    looks = [RuntimeError("secret"), RuntimeError("secret"), None]
    stopping = mock.Mock(wait=lambda _seconds: not looks)

    def look():
        if error := looks.pop(0):
            raise error

    monkeypatch.setattr(health, "look", look)
    health.watch(stopping)
    assert looks == []


@override_settings(CELERY_TASK_ALWAYS_EAGER=True)
def test_it_waits_for_the_first_release_of_a_demo(client, workers, django_user_model):
    steward = django_user_model.objects.create_user("steward")
    dataset = seed.make_dataset(steward, "demo-city")
    assert answered(client)[0] == 200
    Dataset.objects.update(is_demo=True)
    assert answered(client) == (503, "the demo's first release is not published yet", [])
    seed.add_checkins(dataset)
    from heatmaps.releases import lifecycle

    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    release = lifecycle.request_release(steward, dataset, request)
    assert answered(client)[0] == 503
    carry_out(release.pk)
    assert answered(client)[0] == 200
