"""Check-ins leave a dataset after a public number of days, and are deleted from storage then."""

import json
import random
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import Http404

from heatmaps import masses
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.versions import deletion, retention_change
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger import transitions, verification
from heatmaps.models import (
    CheckIn,
    Dataset,
    DataVersion,
    Enrolment,
    Event,
    Extent,
    Membership,
    Upload,
    UploadState,
)
from heatmaps.releases import lifecycle
from mechanisms.check import ParameterError
from tests.ingest.conftest import SQLITE, START, time_of
from tests.masses.test_masses import UNIT, as_dict, naive
from tests.services import draws
from tests.triggers import disabled

DAY = timedelta(days=1)
DAILY = Schedule(every="daily", hour=3)


@pytest.fixture
def kept(clock, make_dataset):
    return make_dataset(retention_days=30)


@pytest.fixture
def advance(steward, clock):
    """The next version, so many days later."""

    def act(dataset, days=0):
        clock.now += days * DAY
        return uploads.advance(steward, dataset)

    return act


def row(user, days_ago=None, *, at=START, lon=2.5):
    return (user, "" if days_ago is None else time_of(days_ago, at=at), 41.5, lon)


def read(dataset, version):
    return as_dict(masses.read(dataset, version, level=8, unit=UNIT))


def mass_of(*rows):
    return naive(rows, level=8, unit=UNIT)


def stored(dataset):
    """Rows in storage, deleted as far as they may be."""
    deletion.delete_rows(dataset.pk)
    return CheckIn.objects.filter(extent__upload__dataset=dataset).count()


def last_event(dataset):
    """Without the commitment, which is another one every time."""
    event = Event.objects.filter(dataset=dataset).latest("sequence")
    after = {name: fact for name, fact in json.loads(event.after).items() if name != "commitment"}
    return event.kind, json.loads(event.before), after


def ask(person, dataset):
    return lifecycle.request_release(
        person, dataset, lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.1", resolution=16)
    )


def test_a_version_leaves_out_what_is_older_and_storage_forgets_it(kept, upload, sent):
    young, old = row("anna", 30, lon=2.1), row("bob", 31, lon=2.9)
    upload_row = upload(kept, [young, old])
    assert upload_row.version.kept_from == date(2026, 10, 21)
    assert read(kept, upload_row.version) == mass_of(young)
    assert ("heatmaps.expire", (str(kept.pk),)) in sent
    assert stored(kept) == 1
    assert read(kept, upload_row.version) == mass_of(young)
    upload_row.refresh_from_db()
    assert (upload_row.rows_accepted, upload_row.rows_expired) == (2, 1)


@pytest.mark.parametrize(("seconds", "is_left"), [(-1, 0), (0, 1), (86399, 1)])
def test_days_are_whole_days_of_utc(kept, upload, clock, seconds, is_left):
    moment = datetime(2026, 10, 21, tzinfo=UTC) + timedelta(seconds=seconds)
    version = upload(kept, [row("anna", 0, at=moment)]).version
    assert len(read(kept, version)) == stored(kept) == is_left
    clock.now = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    assert len(read(kept, upload(kept, [row("bob", 99)]).version)) == is_left
    clock.now += timedelta(seconds=1)
    assert len(read(kept, upload(kept, [row("carl", 99)]).version)) == stored(kept) == 0


def test_without_a_time_or_ahead_of_it_the_day_of_the_file_counts(kept, upload, advance):
    rows = [row("anna"), row("bob", -4000, lon=2.9)]
    upload(kept, rows)
    assert read(kept, advance(kept, days=30)) == mass_of(*rows)
    assert stored(kept) == 2
    assert read(kept, advance(kept, days=1)) == {}
    assert stored(kept) == 0
    assert not CheckIn.objects.exists()
    assert not Extent.objects.exists()


def test_for_ever_is_for_ever(dataset, upload, advance):
    upload(dataset, [row("anna", 20_000), row("bob")])
    version = advance(dataset, days=20_000)
    assert version.kept_from is None
    assert sum(read(dataset, version).values()) == 2 * UNIT
    assert stored(dataset) == 2


def test_nothing_happens_before_the_next_version(dataset, upload, steward, advance):
    version = upload(dataset, [row("anna", 40), row("bob", 5, lon=2.9)]).version
    before = read(dataset, version)
    retention_change.change(steward, dataset, 30, reason="we promised a month")
    assert (read(dataset, version), stored(dataset)) == (before, 2)
    assert read(dataset, advance(dataset)) == mass_of(row("bob", 5, lon=2.9))
    assert read(dataset, version) == before  # as long as it is stored, versions say what they said
    assert stored(dataset) == 1


def test_keeping_longer_brings_nothing_back(kept, upload, steward, advance):
    upload(kept, [row("anna", 31), row("bob", 29, lon=2.9)])
    retention_change.change(steward, kept, 100, reason="longer")
    assert read(kept, advance(kept)) == mass_of(row("bob", 29, lon=2.9))  # though anna's row is stored
    assert CheckIn.objects.count() == 2
    later = row("carl", 60, lon=2.2)
    assert read(kept, upload(kept, [later]).version) == mass_of(row("bob", 29, lon=2.9), later)
    retention_change.change(steward, kept, None, reason="for ever")
    ancient = row("dora", 9999, lon=2.3)
    assert read(kept, upload(kept, [ancient]).version) == mass_of(row("bob", 29, lon=2.9), later, ancient)
    assert stored(kept) == 3


def test_a_queued_release_reads_the_rows_of_its_version(dataset, upload, steward, advance):
    both = [row("anna", 40), row("bob", 5, lon=2.9)]
    version = upload(dataset, both).version
    waiting = ask(steward, dataset)
    retention_change.change(steward, dataset, 30, reason="shorter")
    later = advance(dataset)
    assert stored(dataset) == 2
    assert read(dataset, version) == mass_of(*both)
    assert len(read(dataset, later)) == 1
    assert transitions.spend(waiting.pk)
    assert stored(dataset) == 2  # a draw may read them now
    draws.fail(waiting.pk)
    uploads.sweep()
    assert stored(dataset) == 1


def test_the_sweep_comes_back_until_nothing_is_left(  # noqa: PLR0917 - fixtures
    kept, upload, steward, advance, sent, settings
):
    settings.START_SECONDS = 80_000  # it waits nearly for a day, then it is over

    def swept():
        sent.clear()
        uploads.sweep()
        return [ids for task, ids in sent if task == "heatmaps.expire"]

    upload(kept, [row("anna", 30)])
    deletion.delete_rows(kept.pk)
    waiting = ask(steward, kept)
    assert swept() == []
    advance(kept, days=1)
    deletion.delete_rows(kept.pk)
    assert swept() == [(str(kept.pk),)]
    transitions.cancel(waiting.pk, actor=None)
    assert stored(kept) == 0
    assert swept() == []


def test_it_goes_on_where_it_stopped(kept, upload, monkeypatch):
    """A block is deleted and counted, or neither, whatever breaks in between."""
    monkeypatch.setattr(deletion, "BLOCK", 7)
    rows = [row(f"user-{number}", 31 + number % 2 if number % 3 else 1) for number in range(60)]
    upload_row = upload(kept, rows)
    left, delete = [3], deletion._delete_block

    def broken(*arguments):
        delete(*arguments)
        left[0] -= 1
        if left[0] < 0:
            raise DatabaseError("away")

    monkeypatch.setattr(deletion, "_delete_block", broken)
    with pytest.raises(DatabaseError):
        deletion.delete_rows(kept.pk)
    upload_row.refresh_from_db()
    assert 0 < upload_row.rows_expired == 60 - CheckIn.objects.count() < 40
    assert not DataVersion.objects.get().is_cleared
    monkeypatch.setattr(deletion, "_delete_block", delete)
    assert stored(kept) == 20
    upload_row.refresh_from_db()
    assert upload_row.rows_expired == 40
    assert DataVersion.objects.get().is_cleared


def test_an_undone_upload_and_one_that_waits_are_left_alone(kept, upload, steward, advance):
    waiting = upload(kept, [row("anna", 40)], advance=False)
    undone = upload(kept, [row("bob", 40)], advance=False)
    uploads.undo(steward, undone)
    assert stored(kept) == 2  # there is no version yet
    uploads.run(undone.pk)
    advance(kept)
    assert stored(kept) == 0
    waiting.refresh_from_db()
    assert (waiting.state, waiting.rows_expired) == (UploadState.READY, 1)


def test_who_opted_out_gets_back_what_is_not_too_old(kept, upload, steward, advance):
    upload(kept, [row("anna", 25, lon=2.1), row("anna", 5, lon=2.9)])
    opt_outs.opt_out(steward, kept, ["anna"])
    assert read(kept, advance(kept, days=10)) == {}
    assert stored(kept) == 1
    opt_outs.take_back(steward, kept, ["anna"])
    assert read(kept, advance(kept)) == mass_of(row("anna", 5, lon=2.9))


def test_an_emptied_person_stays_enrolled(clock, make_dataset, upload, advance):
    dataset = make_dataset(relation="replace", persons=3, retention_days=30)
    upload(dataset, [row("anna", 31), row("bob", 5), row("bob", 40), ("carl", "", 50, 9)])
    advance(dataset, days=31)
    assert (stored(dataset), Enrolment.objects.count()) == (0, 3)
    refused = upload(dataset, [row("dora", 0)])
    assert refused.state == UploadState.FAILED
    assert "would have 4 different users" in refused.failure
    assert upload(dataset, [row("anna", 0), row("bob", 1)]).state == UploadState.READY


def test_no_one_is_remembered_where_the_number_is_secret(kept, upload):
    upload(kept, [row("anna", 31)])
    assert (stored(kept), Enrolment.objects.count()) == (0, 0)


def test_on_a_schedule_the_due_day_counts(make_dataset, clock, upload):
    dataset = make_dataset(schedule=DAILY, retention_days=30)
    upload(dataset, [row("anna", 29), row("bob", 30, lon=2.9)])
    clock.now += 2 * DAY  # a day late
    uploads.sweep()
    version = dataset.versions.get()
    assert (version.due_at.day, version.kept_from) == (22, date(2026, 10, 23))
    assert read(dataset, version) == {}
    assert last_event(dataset)[2]["kept_from"] == "2026-10-23"
    assert verification.verify(dataset).ok


def test_a_version_that_is_due_is_made_by_the_old_rule(make_dataset, clock, upload, steward):
    dataset = make_dataset(schedule=DAILY, retention_days=60)
    upload(dataset, [row("anna", 40)])
    clock.now += DAY
    retention_change.change(steward, dataset, 30, reason="shorter")
    assert len(read(dataset, dataset.versions.get())) == stored(dataset) == 1


def test_events_say_the_same_whatever_was_deleted(make_dataset, clock, upload):
    full, empty = (make_dataset(slug, schedule=DAILY, retention_days=30) for slug in ("full", "empty"))
    upload(full, [row("anna", 35), row("bob", 29)])
    said = defaultdict(list)
    for _ in range(2):
        clock.now += DAY
        uploads.sweep()
        for dataset in (full, empty):
            deletion.delete_rows(dataset.pk)
            said[dataset.slug].append(last_event(dataset))
    assert said["full"] == said["empty"]
    assert Upload.objects.get().rows_expired


@SQLITE
def test_a_change_is_an_event_with_a_reason(dataset, steward):
    retention_change.change(steward, dataset, 30, reason="  we promised a month ")
    retention_change.change(steward, dataset, 30, reason="again")
    assert last_event(dataset) == (
        "retention",
        {"retention": "for ever"},
        {"retention": 30, "reason": "we promised a month"},
    )
    retention_change.change(steward, dataset, None, reason="not needed")
    assert last_event(dataset)[2]["retention"] == "for ever"
    assert Event.objects.filter(dataset=dataset, kind="retention").count() == 2
    assert verification.verify(dataset).ok


@SQLITE
@pytest.mark.parametrize("days", [0, -1, 36_501, True, "30", 1.5])
def test_days_are_whole_and_some(dataset, steward, make_dataset, days):
    with pytest.raises(ParameterError, match="retention_days"):
        retention_change.change(steward, dataset, days, reason="why not")
    with pytest.raises(ParameterError, match="retention_days"):
        make_dataset("other", retention_days=days)


@SQLITE
def test_it_asks_for_a_reason(dataset, steward):
    with pytest.raises(ParameterError, match="reason"):
        retention_change.change(steward, dataset, 30, reason=" ")


@SQLITE
@pytest.mark.parametrize(("role", "error"), [("analyst", PermissionDenied), (None, Http404)])
def test_only_stewards_change_it(dataset, role, error):
    other = User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=dataset, user=other, role=role)
    with pytest.raises(error):
        retention_change.change(other, dataset, 30, reason="why not")


@SQLITE
@pytest.mark.parametrize("forged", [31, None])
def test_verification_finds_a_rule_that_no_event_set(kept, forged):
    Dataset.objects.filter(pk=kept.pk).update(retention_days=forged)
    assert "how long" in verification.verify(kept).problem


@SQLITE
@pytest.mark.parametrize("forged", [None, date(2026, 10, 20)])
def test_verification_finds_another_day_of_a_version(kept, clock, advance, forged):
    advance(kept)
    with disabled():
        DataVersion.objects.update(kept_from=forged)
    assert "version 1" in verification.verify(kept).problem


@pytest.mark.parametrize("seed", range(2))
def test_random_lives_equal_the_rule_applied_by_hand(dataset, upload, steward, advance, seed):
    """Files, rules and versions in any order, against every version's rule carried out on lists."""
    rng, now, kept = random.Random(seed), START, []
    for turn in range(8):
        for _ in range(rng.randrange(3)):
            aged = [rng.choice([None, *range(-5, 60)]) for _ in range(6)]
            rows = [row(f"user-{rng.randrange(9)}", age, at=now, lon=2 + rng.random()) for age in aged]
            upload(dataset, rows, advance=False)
            kept += [(max(age or 0, 0), one) for age, one in zip(aged, rows, strict=True)]
        if turn % 2 == 0:
            limit = rng.choice([None, 3, 10, 40])
            retention_change.change(steward, dataset, limit, reason="drawn")
        passed = rng.randrange(20)
        now += passed * DAY
        version, kept = advance(dataset, days=passed), [(age + passed, one) for age, one in kept]
        kept = [(age, one) for age, one in kept if limit is None or age <= limit]
        assert read(dataset, version) == mass_of(*(one for _, one in kept))
        if rng.random() < 0.5:
            assert stored(dataset) == len(kept)
    assert stored(dataset) == CheckIn.objects.count() == len(kept)
    assert verification.verify(dataset).ok
    assert Upload.objects.filter(rows_expired__gt=0).exists()
