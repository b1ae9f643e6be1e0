"""A draw keeps its release for as long as its process lives, and no longer. On SQLite and on PostgreSQL."""

import logging
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from heatmaps import masses
from heatmaps.broker import leases
from heatmaps.ledger import transitions
from heatmaps.ledger.verification import verify
from heatmaps.models import Drawing, Election, Release
from heatmaps.releases import clock as moments
from heatmaps.releases import draws, lifecycle, sweep
from tests.ingest import conftest as ingest
from tests.services.draws import carry_out
from tests.services.programs import wait_until

for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

MINUTE = timedelta(minutes=1)
LEASE = 10 * MINUTE


@pytest.fixture
def db(database):
    """Real commits, seen by every thread."""


@pytest.fixture
def clock(monkeypatch):
    """Moves the product's clock on."""
    offset = [timedelta()]
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + offset[0])

    def move(by):
        offset[0] += by

    return move


@pytest.fixture(autouse=True)
def renewed_often(settings, monkeypatch, clock):
    """Leases of ten minutes by that clock, renewed every tenth of a second by everybody else's."""
    settings.LEASE_SECONDS = LEASE.total_seconds()
    monkeypatch.setattr(leases, "RENEWALS", LEASE.total_seconds() * 10)


@pytest.fixture
def release(dataset, analyst, ask):
    return lifecycle.request_release(analyst, dataset, ask())


def state(release):
    return Release.objects.get(pk=release.pk).state


def drawing(release):
    return Drawing.objects.get(pk=release.pk)


def lease_left(release):
    return drawing(release).lease_until - timezone.now()


def reading(monkeypatch, act):
    """`act` happens while masses are read."""
    read = masses.read
    monkeypatch.setattr(masses, "read", lambda *args, **options: (act(), read(*args, **options))[1])


def test_it_publishes_what_took_longer_than_a_lease(dataset, release, clock, monkeypatch):
    def last_for_half_an_hour():
        for _ in range(6):
            clock(5 * MINUTE)
            wait_until(lambda: lease_left(release) > 9 * MINUTE, seconds=60, what="a renewal")
            sweep.sweep()

    reading(monkeypatch, last_for_half_an_hour)
    carry_out(release.pk)

    assert state(release) == "published"
    assert verify(dataset).ok


def test_it_lets_the_lease_of_a_dead_worker_run_out(dataset, release, clock, monkeypatch):
    def die():
        raise SystemExit

    reading(monkeypatch, die)
    with pytest.raises(SystemExit):
        carry_out(release.pk)

    assert "lease" not in {thread.name for thread in threading.enumerate()}
    sweep.sweep()
    assert drawing(release).state == "running"
    clock(LEASE + MINUTE)
    sweep.sweep()
    assert (drawing(release).state, state(release)) == ("failed", "spent")
    moments.tick()
    assert state(release) == "failed"


def test_it_gives_up_on_a_worker_that_hangs_and_refuses_what_it_publishes_late(
    dataset, release, clock, monkeypatch
):
    def hang():
        thread = next(one for one in threading.enumerate() if one.name == "lease")
        thread.join(60)
        clock(LEASE + MINUTE)
        sweep.sweep()

    monkeypatch.setattr(leases, "LONGEST_WORK_SECONDS", 0)
    reading(monkeypatch, hang)
    carry_out(release.pk)

    assert state(release) == "failed"
    assert not hasattr(Release.objects.get(pk=release.pk), "result")
    assert list(dataset.events.values_list("kind", flat=True))[-2:] == ["spend", "fail"]


def test_it_renews_again_after_the_database_was_away(release, clock, monkeypatch, caplog):
    renew, failures = draws.renew, [OperationalError("person 4711")] * 2

    def fails_twice(release_id):
        if failures:
            raise failures.pop()
        return renew(release_id)

    def last():
        clock(5 * MINUTE)
        wait_until(lambda: lease_left(release) > 9 * MINUTE, seconds=60, what="a renewal")

    monkeypatch.setattr(draws, "renew", fails_twice)
    reading(monkeypatch, last)
    with caplog.at_level(logging.DEBUG):
        carry_out(release.pk)

    assert state(release) == "published"
    assert caplog.text.count("lease.not_renewed") == 2
    assert caplog.text.count("OperationalError") == 2
    assert "person 4711" not in caplog.text


ON_POSTGRESQL = [pytest.param("postgresql", marks=pytest.mark.postgres)]  # SQLite has one writer at a time


@pytest.mark.parametrize("database", ON_POSTGRESQL, indirect=True)
def test_it_renews_outside_of_the_transaction_of_anybody_else(dataset, release):
    """A worker's own transaction that is rolled back takes no renewal with it."""
    transitions.spend(release.pk)
    draws.claim(release)
    Drawing.objects.filter(pk=release.pk).update(lease_until=timezone.now())
    with draws.lease(release.pk), transaction.atomic():
        wait_until(lambda: lease_left(release) > 9 * MINUTE, seconds=60, what="a renewal")
        transaction.set_rollback(True)
    assert lease_left(release) > 9 * MINUTE


@pytest.mark.parametrize("end", ["reserved", "published", "failed", "cancelled"])
def test_it_renews_and_claims_nothing_but_a_spent_release(release, monkeypatch, end):
    if end == "failed":
        monkeypatch.setattr(masses, "read", lambda *_args, **_options: 1 / 0)
    if end == "cancelled":
        transitions.cancel(release.pk, actor=None)
    elif end != "reserved":
        carry_out(release.pk)

    assert not draws.renew(release.pk)
    assert not draws.claim(release)
    assert state(release) == end
    assert not Drawing.objects.exists()


def test_it_elects_one_worker_ever(release):
    transitions.spend(release.pk)
    assert [draws.claim(release) for _ in range(3)] == [True, False, False]
    draws.give_up(release.pk)
    assert not draws.claim(release)


def test_a_renewal_that_came_before_the_sweep_wins(release, clock):
    transitions.spend(release.pk)
    draws.claim(release)
    clock(LEASE + MINUTE)
    assert draws.renew(release.pk)

    assert not draws.give_up_if_over(release.pk, timezone.now())

    assert drawing(release).state == "running"
    clock(LEASE + MINUTE)
    assert draws.give_up_if_over(release.pk, timezone.now())
    assert not draws.renew(release.pk)


def test_an_election_that_nobody_draws_by_ends_its_release(dataset, release):
    """Whoever may add elections would else hold up the queue of its dataset for ever."""
    Election.objects.create(release=release)
    carry_out(release.pk)
    assert state(release) == "failed"
    assert verify(dataset).ok
