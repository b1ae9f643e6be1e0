"""Data versions on a public schedule: at each due moment one, whatever came in or did not."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps import masses
from heatmaps.ingest import opt_outs, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import scheduled as scheduling
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger import verification
from heatmaps.models import Dataset, Event, Membership, UploadState
from heatmaps.releases import lifecycle
from mechanisms.check import ParameterError
from tests.masses.test_masses import UNIT, as_dict, naive
from tests.services.draws import carry_out

DAILY = Schedule(every="daily", hour=3)
WEEKLY = Schedule(every="weekly", hour=0, weekday="monday")
ANNA, BOB = [("anna", "", 41.5, 2.5)], [("bob", "", 41.8, 2.9)]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def scheduled(clock, make_dataset):
    return make_dataset(schedule=DAILY)


def due(dataset):
    return Dataset.objects.get(pk=dataset.pk).next_version_at


def last_event(dataset):
    """Without the commitment, which is another one every time."""
    event = Event.objects.filter(dataset=dataset).latest("sequence")
    after = {name: fact for name, fact in json.loads(event.after).items() if name != "commitment"}
    return event.kind, event.actor_id, json.loads(event.before), after


def read(dataset, version):
    return as_dict(masses.read(dataset, version, level=4, unit=UNIT))


def test_it_is_fixed_when_the_dataset_is_made(scheduled, clock, steward):
    assert due(scheduled) == datetime(2026, 11, 21, 3, tzinfo=UTC)
    assert last_event(scheduled) == (
        "schedule",
        steward.pk,
        {"schedule": "no schedule"},
        {"schedule": "daily 03:00", "reason": "set when the dataset was made"},
    )
    assert verification.verify(scheduled).ok


def test_an_upload_waits_for_the_moment_and_opt_outs_too(scheduled, clock, upload, steward):
    row = upload(scheduled, ANNA + BOB, advance=True)
    opt_outs.opt_out(steward, scheduled, ["anna"])
    clock.now = due(scheduled) - timedelta(seconds=1)
    uploads.sweep()
    assert (row.state, scheduled.versions.count()) == (UploadState.READY, 0)
    clock.now = due(scheduled)
    uploads.sweep()
    version = scheduled.versions.get()
    assert read(scheduled, version) == naive(BOB, level=4, unit=UNIT)
    assert (version.created_by, version.since) == (None, clock.now)
    assert due(scheduled) == clock.now + DAY


def test_it_takes_what_was_kept_back_as_well(scheduled, clock, upload):
    row = upload(scheduled, ANNA, advance=False)
    clock.now += DAY
    uploads.sweep()
    row.refresh_from_db()
    assert row.version.number == 1


def test_a_version_comes_whether_or_not_anything_changed(make_dataset, clock, upload):
    full, empty = make_dataset("full", schedule=DAILY), make_dataset("empty", schedule=DAILY)
    said = {}
    for day in range(3):
        if day == 1:
            upload(full, ANNA)
        clock.now += DAY
        uploads.sweep()
        for dataset in (full, empty):
            said.setdefault(dataset.slug, []).append(last_event(dataset))
    assert said["full"] == said["empty"]
    assert said["empty"][2] == (
        "version",
        None,
        {"version": 2},
        {"version": 3, "due": "2026-11-23T03:00:00Z"},
    )
    assert verification.verify(full).ok


def test_the_first_version_may_be_empty_and_be_released(scheduled, clock, steward):
    clock.now += DAY
    uploads.sweep()
    request = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.5", resolution=16)
    release = lifecycle.request_release(steward, scheduled, request)
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"


def test_sweeping_again_makes_no_other_version(scheduled, clock):
    clock.now += DAY
    for _ in range(3):
        uploads.sweep()
    assert scheduled.versions.count() == 1


def test_after_a_downtime_it_makes_one_version_for_the_latest_moment(scheduled, clock):
    clock.now += 100 * DAY
    uploads.sweep()
    assert scheduled.versions.get().due_at == datetime(2027, 2, 28, 3, tzinfo=UTC)
    assert due(scheduled) == datetime(2027, 3, 1, 3, tzinfo=UTC)


def test_a_dataset_in_trouble_does_not_hold_up_the_others(make_dataset, clock):
    first, second = make_dataset("one", schedule=DAILY), make_dataset("two", schedule=DAILY)
    Dataset.objects.filter(pk=first.pk).update(schedule="never")
    clock.now += DAY
    uploads.sweep()
    assert (first.versions.count(), second.versions.count()) == (0, 1)


def test_a_steward_does_not_advance_out_of_turn(scheduled, steward):
    with pytest.raises(UploadError, match=r"due at 2026-11-21 03:00 UTC\. To advance out of turn") as caught:
        uploads.advance(steward, scheduled)
    assert caught.value.code == "scheduled"
    assert not scheduled.versions.exists()


def test_lifting_it_is_an_act_with_a_reason(scheduled, steward):
    scheduling.change(steward, scheduled, None, reason="moved by hand from now on")
    assert last_event(scheduled) == (
        "schedule",
        steward.pk,
        {"schedule": "daily 03:00"},
        {"schedule": "no schedule", "reason": "moved by hand from now on"},
    )
    assert uploads.advance(steward, scheduled).created_by == steward
    assert verification.verify(scheduled).ok


def test_changing_it_to_the_same_says_nothing(scheduled, steward):
    scheduling.change(steward, scheduled, DAILY, reason="again")
    assert Event.objects.filter(dataset=scheduled, kind="schedule").count() == 1


def test_a_version_that_is_due_is_made_before_the_schedule_changes(scheduled, clock, steward):
    clock.now = due(scheduled) + HOUR
    scheduling.change(steward, scheduled, WEEKLY, reason="once a week is enough")
    assert scheduled.versions.get().due_at == datetime(2026, 11, 21, 3, tzinfo=UTC)
    assert due(scheduled) == datetime(2026, 11, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize("reason", ["", "  ", "a\x00b", "x" * 501])
@pytest.mark.parametrize("has_uploads", [True, False])
def test_it_asks_for_a_reason_whatever_was_uploaded(scheduled, steward, upload, reason, has_uploads):
    if has_uploads:
        upload(scheduled, ANNA)
    with pytest.raises(ParameterError, match="reason"):
        scheduling.change(steward, scheduled, WEEKLY, reason=reason)


@pytest.mark.parametrize(("role", "error"), [("analyst", PermissionDenied), (None, Http404)])
def test_only_stewards_change_it(scheduled, role, error):
    other = User.objects.create_user("other")
    if role:
        Membership.objects.create(dataset=scheduled, user=other, role=role)
    with pytest.raises(error):
        scheduling.change(other, scheduled, None, reason="why not")


@pytest.mark.parametrize("forged", [{"schedule": "", "next_version_at": None}, {"schedule": "daily 04:00"}])
def test_verification_finds_a_schedule_that_no_event_set(scheduled, forged):
    Dataset.objects.filter(pk=scheduled.pk).update(**forged)
    assert "schedule" in verification.verify(scheduled).problem
