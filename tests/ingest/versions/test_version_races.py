"""A data version made while something else happens to the same dataset: one of the two comes first, wholly.

On PostgreSQL, where the two really run at once; SQLite lets one writer in at a time.
"""

import threading
from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
import pytest
from django.db import connection
from django.db.models import F

from heatmaps import masses
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import scheduled as scheduling
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger import transitions, verification
from heatmaps.models import CheckIn, Dataset, Suppression, Upload, UploadState
from tests.masses.test_masses import UNIT
from tests.services.programs import wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]

ROUNDS = 12
WAITING = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""
DAILY = Schedule(every="daily", hour=3)


def at_once(*acts):
    """Each in a thread with a connection of its own, from one moment on; what each returned or raised."""
    barrier, told = threading.Barrier(len(acts)), [None] * len(acts)

    def go(at, act):
        connection.ensure_connection()
        barrier.wait(timeout=60)
        try:
            told[at] = act()
        except Exception as error:  # noqa: BLE001 - the test wants to see it
            told[at] = error
        finally:
            connection.close()

    crowd = [threading.Thread(target=go, args=(at, act)) for at, act in enumerate(acts)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    return told


def rows_of(number, count=50):
    return [(f"user-{number}-{at}", "", 41.5, 2 + at / count) for at in range(count)]


def is_due(dataset):
    """As if the dataset had been waiting since the day before."""
    Dataset.objects.filter(pk=dataset.pk).update(next_version_at=F("next_version_at") - timedelta(days=1))


def persons_in(dataset, version):
    return masses.read(dataset, version, level=4, unit=UNIT).masses.sum() // UNIT


@pytest.fixture
def scheduled(make_dataset):
    return make_dataset(schedule=DAILY)


def test_a_due_version_is_made_once_however_many_sweep(scheduled):
    for number in range(1, ROUNDS + 1):
        is_due(scheduled)
        now = datetime.now(UTC) + timedelta(days=number)  # each round has a due moment of its own
        made = at_once(*[partial(scheduling.advance_due, scheduled.pk, now)] * 6)
        assert [one.number for one in made if one] == [number]
    assert scheduled.versions.count() == ROUNDS
    assert verification.verify(scheduled).ok


def test_an_undo_and_a_version_exclude_each_other(dataset, upload, steward):
    for number in range(ROUNDS):
        row = upload(dataset, rows_of(number), advance=False)
        undone, version = at_once(
            lambda row=row: uploads.undo(steward, row), lambda: uploads.advance(steward, dataset)
        )
        row.refresh_from_db()
        if undone is None:
            assert (row.state, row.version) == (UploadState.UNDONE, None)
            uploads.run(row.pk)
            assert not CheckIn.objects.filter(extent__upload=row).exists()
        else:
            assert isinstance(undone, UploadError)
            assert (row.state, row.version) == (UploadState.READY, version)
            assert CheckIn.objects.filter(extent__upload=row).count() == 50
        included = Upload.objects.filter(version__number__lte=version.number).count()
        assert persons_in(dataset, version) == 50 * included  # never a part of an upload
    assert verification.verify(dataset).ok


def test_an_undo_waits_for_a_version_that_is_being_made(dataset, upload, steward, monkeypatch, database):
    """The order is forced: the version has begun and is not committed while the undo waits."""
    row, begun, record = upload(dataset, rows_of(0), advance=False), threading.Event(), transitions.record

    def slow(*arguments, **named):
        begun.set()
        with psycopg.connect(database, autocommit=True) as observer:
            wait_until(lambda: observer.execute(WAITING).fetchone()[0], seconds=60, what="the undo waiting")
        return record(*arguments, **named)

    monkeypatch.setattr("heatmaps.ingest.versions.advance.transitions.record", slow)

    def undo():
        begun.wait(60)
        uploads.undo(steward, row)

    version, refusal = at_once(lambda: uploads.advance(steward, dataset), undo)
    row.refresh_from_db()
    assert isinstance(refusal, UploadError)
    assert (row.state, row.version) == (UploadState.READY, version)


def test_a_list_of_opt_outs_is_in_a_version_wholly_or_not_at_all(dataset, upload, steward):
    upload(dataset, rows_of(0, 500))
    for number in range(ROUNDS):
        users = [f"user-0-{at}" for at in range(number * 40, number * 40 + 40)]
        entered, version = at_once(
            lambda users=users: opt_outs.opt_out(steward, dataset, users),
            lambda: uploads.advance(steward, dataset),
        )
        assert entered == 40
        assert Suppression.objects.filter(since__gt=version.number).count() in {0, 40}
        in_effect = Suppression.in_effect(version).count()
        assert in_effect % 40 == 0
        assert persons_in(dataset, version) == 500 - in_effect
    assert verification.verify(dataset).ok  # each version has what it was committed with


def test_taking_back_and_a_version_leave_no_half_state(dataset, steward):
    for number in range(ROUNDS):
        opt_outs.opt_out(steward, dataset, [f"user-{number}"])
        taken_back, version = at_once(
            lambda number=number: opt_outs.take_back(steward, dataset, [f"user-{number}"]),
            lambda: uploads.advance(steward, dataset),
        )
        entry = Suppression.objects.filter(withdraws=None).latest("pk")
        withdrawal = entry.withdrawals.get()
        assert (taken_back, entry.since) == (1, version.number)
        # Taken back before the version, which never has it, or from the next one on.
        assert withdrawal.since in {version.number, version.number + 1}
        left_out = set(Suppression.in_effect(version))
        assert left_out == ({entry} if withdrawal.since > version.number else set())
        assert verification.verify(dataset).ok
    last = uploads.advance(steward, dataset)
    assert not Suppression.in_effect(last).exists()
    assert verification.verify(dataset).ok


def test_a_file_that_ends_and_a_due_version_leave_no_half_upload(scheduled, receive):
    for number in range(1, ROUNDS + 1):
        row = receive(scheduled, rows_of(number))
        is_due(scheduled)
        now = datetime.now(UTC) + timedelta(days=number)
        _, version = at_once(
            lambda row=row: uploads.run(row.pk), lambda now=now: scheduling.advance_due(scheduled.pk, now)
        )
        row.refresh_from_db()
        assert (row.state, row.rows_accepted) == (UploadState.READY, 50)
        assert version.number == number
        assert row.version in {None, version}
        included = Upload.objects.filter(version__number__lte=number).count()
        assert persons_in(scheduled, version) == 50 * included
    assert verification.verify(scheduled).ok
