"""Who reads a lake for a release: one process at a time, whoever keeps the lease; who lost it never draws."""

from datetime import timedelta

import pytest
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ledger.verification import verify
from heatmaps.models import SourceReading
from heatmaps.releases import source_readings, sweep
from tests.sources.moments import INSTANT, LEASE, committed, drawing_of, public_state

pytestmark = pytest.mark.django_db(transaction=True)


def test_nobody_reads_what_is_not_spent(reserved):
    assert source_readings.begin(reserved.pk) is None
    assert not SourceReading.objects.exists()


def test_one_reads_and_one_draws(spent, clock):
    began = clock(timedelta(0))
    tag = source_readings.begin(spent.pk)
    assert tag is not None
    assert source_readings.begin(spent.pk) is None
    clock(timedelta(seconds=30))
    assert [source_readings.claim(spent, tag) for _ in range(2)] == [True, False]
    assert not SourceReading.objects.exists()
    drawing = drawing_of(spent)
    assert (drawing.state, drawing.claimed_at) == ("running", began)
    assert source_readings.begin(spent.pk) is None
    assert not source_readings.give_up(spent.pk, tag)
    assert drawing_of(spent).state == "running"


def test_who_lost_the_lease_never_draws(spent, clock):
    began = clock(timedelta(0))
    first = source_readings.begin(spent.pk)
    clock(LEASE)
    assert source_readings.begin(spent.pk) is None
    clock(INSTANT)
    second = source_readings.begin(spent.pk)
    assert second not in (None, first)
    assert not source_readings.claim(spent, first)
    assert not source_readings.give_up(spent.pk, first)
    source_readings.let_go(spent.pk, first, was_asked=True)
    assert source_readings.claim(spent, second)
    assert drawing_of(spent).claimed_at == began  # of the first who asked the lake


def test_after_three_attempts_there_is_no_result_and_the_charge_stays(spent, clock):
    charge = committed(spent.dataset)
    for _ in range(source_readings.MOST_ATTEMPTS):
        assert source_readings.begin(spent.pk) is not None
        clock(LEASE + INSTANT)
    assert source_readings.begin(spent.pk) is None
    assert drawing_of(spent).state == "failed"
    assert public_state(spent, clock) == "failed"
    assert committed(spent.dataset) == charge > 0
    verify(spent.dataset)


@pytest.mark.parametrize("was_asked", [True, False])
def test_who_lets_go_lets_another_try_after_a_pause(spent, clock, was_asked):
    """A longer one where nothing was asked, as somebody has to start or mend it."""
    pause = source_readings.PAUSE if was_asked else source_readings.LONG_PAUSE
    for attempt in range(source_readings.MOST_ATTEMPTS):
        tag = source_readings.begin(spent.pk)
        assert tag is not None
        source_readings.let_go(spent.pk, tag, was_asked=was_asked)
        if attempt < source_readings.MOST_ATTEMPTS - 1:
            clock(pause)
            assert source_readings.begin(spent.pk) is None
            clock(INSTANT)
    assert drawing_of(spent).state == "failed"
    assert source_readings.begin(spent.pk) is None


def test_a_lease_is_kept_while_the_reader_lives(spent, settings, monkeypatch):
    monkeypatch.undo()  # the clock goes on
    settings.LEASE_SECONDS = 0.6
    tag = source_readings.begin(spent.pk)
    until = SourceReading.objects.get().lease_until
    with source_readings.lease(spent.pk, tag):
        deadline = timezone.now() + timedelta(seconds=20)
        while SourceReading.objects.get().lease_until <= until and timezone.now() < deadline:
            pass
    assert SourceReading.objects.get().lease_until > until


def test_a_process_that_reads_alone_forgets_leases(spent, sent):
    first = source_readings.begin(spent.pk)
    sent.clear()
    sweep.sweep()
    assert sent == []
    sweep.recover()
    assert sent == [(queue.SOURCE_RELEASE, str(spent.pk))]
    assert source_readings.begin(spent.pk) not in (None, first)
