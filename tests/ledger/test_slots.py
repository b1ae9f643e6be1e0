"""Public moments of releases: fixed when they are reserved, and nothing is told before."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition, QueueTooLong
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Drawing, DrawingState, Ledger, Release, RowCapacity
from heatmaps.releases import clock as moments
from tests.ledger.conftest import ONE
from tests.services.draws import CONTENT

SLOT = timedelta(seconds=10)
INSTANT = timedelta(microseconds=1)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock(monkeypatch, settings):
    """The product's clock, which stands; slots of ten seconds, after five in which one may cancel."""
    settings.SLOT_SECONDS = dict.fromkeys(RowCapacity.values, SLOT.total_seconds())
    settings.START_SECONDS = 5
    monkeypatch.setattr(queue, "_send", lambda _task, _ids: None)
    told = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: told[0])

    def at(moment):
        told[0] = moment

    return at


@pytest.fixture
def release(reserve, dataset):
    return reserve(dataset)


@pytest.fixture
def begun(clock, release):
    clock(release.starts_at)
    moments.tick()
    return again(release)


def again(release):
    return Release.objects.get(pk=release.pk)


def drawing(release, state, **facts):
    told = {"state": state, "claimed_at": release.starts_at} | facts
    Drawing.objects.update_or_create(pk=release.pk, defaults=told)


def drawn(release):
    drawing(release, DrawingState.DRAWN, content=CONTENT, sha256=SHA256)


def last_event(dataset):
    """Its kind and moment."""
    last = dataset.events.order_by("-sequence").first()
    return last.kind, datetime.fromtimestamp(0, UTC) + timedelta(microseconds=last.at_microseconds)


def test_slots_of_a_dataset_follow_each_other_and_those_of_others_do_not_wait(reserve, make_dataset):
    first, second, other = (reserve(one) for one in [*[make_dataset()] * 2, make_dataset("village")])

    assert (first.starts_at, first.visible_at) == (NOON + SLOT / 2, NOON + SLOT / 2 + SLOT)
    assert (second.starts_at, second.visible_at) == (first.visible_at, first.visible_at + SLOT)
    assert other.starts_at == first.starts_at


def test_a_slot_is_as_long_as_the_size_class_says(reserve, make_dataset, settings):
    settings.SLOT_SECONDS = dict(zip(sorted(RowCapacity.values), (1, 2, 3, 4), strict=True))
    for number, size in enumerate(sorted(RowCapacity.values), start=1):
        dataset = make_dataset(f"city-{number}")
        Dataset.objects.filter(pk=dataset.pk).update(row_capacity=size)
        release = reserve(dataset)
        assert release.visible_at - release.starts_at == timedelta(seconds=number)


def test_nothing_is_spent_before_it_starts(clock, release):
    clock(release.starts_at - INSTANT)
    moments.tick()
    assert not transitions.spend(release.pk)
    assert again(release).state == "reserved"

    clock(release.starts_at)
    assert transitions.spend(release.pk)


def test_one_release_of_a_dataset_is_drawn_at_a_time(clock, begun, reserve, dataset):
    second = reserve(dataset)
    clock(second.starts_at)

    assert not transitions.spend(second.pk)


def test_it_is_cancelled_exactly_before_it_starts(clock, reserve, dataset, steward):
    release = reserve(dataset)
    clock(release.starts_at)
    assert not transitions.cancel(release.pk, actor=steward)

    clock(release.starts_at - INSTANT)
    assert transitions.cancel(release.pk, actor=steward)
    assert dataset.accounts.get(kind="presence").committed == 0


@pytest.mark.parametrize("outcome", [DrawingState.DRAWN, DrawingState.FAILED])
def test_an_outcome_that_is_there_is_told_at_its_moment_and_stamped_with_it(clock, begun, dataset, outcome):
    drawing(begun, outcome, content=CONTENT, sha256=SHA256)
    events = dataset.events.count()
    tell = transitions.publish if outcome == DrawingState.DRAWN else transitions.fail

    clock(begun.visible_at - INSTANT)
    moments.tick()
    with pytest.raises(IllegalTransition):
        tell(begun.pk)
    assert again(begun).public_state == "queued"
    assert dataset.events.count() == events

    clock(begun.visible_at + timedelta(seconds=3))  # whenever the clock comes by
    moments.tick()
    assert again(begun).public_state == {"drawn": "published", "failed": "no_result"}[outcome]
    assert last_event(dataset)[1] == begun.visible_at
    assert again(begun).finished_at == begun.visible_at
    assert not Drawing.objects.exists()


def test_the_spend_is_stamped_with_its_moment(clock, release, dataset):
    clock(release.starts_at + timedelta(seconds=1))
    moments.tick()

    assert last_event(dataset) == ("spend", release.starts_at)


def test_workers_that_are_away_do_not_fill_the_chain(clock, begun, reserve, dataset):
    behind = [reserve(dataset) for _ in range(3)]
    events, waits = dataset.events.count(), []
    for _ in range(8):
        due = again(begun).visible_at
        clock(due)
        moments.tick()
        waits.append((again(begun).visible_at - due).total_seconds())

    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]
    assert dataset.events.count() == events + 8 * 4
    assert [again(one).starts_at for one in behind] == [
        again(begun).visible_at + number * SLOT for number in range(3)
    ]
    assert verify(Dataset.objects.get(pk=dataset.pk)).problem == ""


@pytest.mark.unguarded
def test_a_dataset_whose_rows_make_no_sense_stops_no_other(clock, reserve, make_dataset, dataset):
    damaged, other = reserve(dataset), reserve(make_dataset("village"))
    Release.objects.filter(pk=damaged.pk).update(guarantee={})

    clock(other.starts_at)
    moments.tick()

    assert (again(damaged).state, again(other).state) == ("reserved", "spent")


def test_a_dataset_whose_chain_was_damaged_stops_no_other(clock, reserve, make_dataset, dataset):
    """The database refuses its next event; that is no database that is away."""
    damaged, other = reserve(dataset), reserve(make_dataset("village"))
    Ledger.objects.filter(pk=dataset.pk).update(last_sequence=0)

    clock(other.starts_at)
    moments.tick()

    assert (again(damaged).state, again(other).state) == ("reserved", "spent")


@pytest.mark.unguarded
def test_a_clock_works_no_promise_out_that_its_own_program_made(clock, release, monkeypatch):
    """It may take seconds, in which no dataset's moments come."""
    monkeypatch.setattr(moments, "_STARTED_AT", NOON)
    Release.objects.filter(pk=release.pk).update(guarantee={})
    clock(release.starts_at)
    moments.tick()

    assert again(release).state == "spent"


def test_a_reservation_lasts_for_a_day_from_its_turn_on(reserve, dataset, settings):
    settings.SLOT_SECONDS = dict.fromkeys(RowCapacity.values, 40_000)
    first, second, third = (reserve(dataset) for _ in range(3))

    lasting = first.expires_at - first.starts_at
    assert lasting > timedelta()
    assert second.expires_at - second.starts_at == third.expires_at - third.starts_at == lasting


def test_the_queue_of_a_dataset_is_no_longer_than_a_day(clock, reserve, dataset, settings):
    """Questions of 24 hours may take longer than that, and check-ins wait with them to be deleted."""
    settings.SLOT_SECONDS = dict.fromkeys(RowCapacity.values, 12 * 3600)
    settings.START_SECONDS = 0
    first, _, third = (reserve(dataset) for _ in range(3))
    assert third.starts_at == NOON + timedelta(days=1)

    with pytest.raises(QueueTooLong) as refused:
        reserve(dataset)
    assert refused.value.again_at == first.visible_at
    assert dataset.accounts.get(kind="presence").committed == 3 * ONE

    clock(refused.value.again_at)
    assert reserve(dataset).starts_at == third.visible_at
