"""Public moments: nothing is seen before them, whatever happened, and they follow from public facts alone."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from heatmaps import masses
from heatmaps.home.cards import cards_of
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition, TooLateToCancel, TooManyQuestions
from heatmaps.ledger.transitions import delaying
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Drawing, Release, Result
from heatmaps.releases import clock as moments
from heatmaps.releases import draws, lifecycle
from heatmaps.releases.question import same_release
from mechanisms.check import ParameterError

SLOT = timedelta(seconds=20)
INSTANT = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock(monkeypatch, settings):
    """The product's clock stands still until it is moved."""
    settings.SLOT_SECONDS = dict.fromkeys(settings.SLOT_SECONDS, SLOT.total_seconds())
    settings.LEASE_SECONDS = 600
    at = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: at[0])

    def move(to):
        at[0] = at[0] + to if isinstance(to, timedelta) else to
        return at[0]

    return move


@pytest.fixture
def three(dataset, analyst, ask):
    return [lifecycle.request_release(analyst, dataset, ask()) for _ in range(3)]


def told(release):
    release.refresh_from_db()
    return release.state, release.starts_at, release.visible_at


def kinds(dataset):
    return list(dataset.events.order_by("sequence").values_list("kind", flat=True))[2:]


def at(event):
    return EPOCH + timedelta(microseconds=event.at_microseconds)


def test_a_release_can_be_cancelled_until_the_instant_it_begins(three, analyst, clock):
    clock(three[1].starts_at - INSTANT)
    assert lifecycle.may_be_cancelled(three[1])
    clock(INSTANT)
    assert not lifecycle.may_be_cancelled(three[1])
    with pytest.raises(TooLateToCancel):
        lifecycle.cancel(analyst, three[1])
    clock(three[2].starts_at - INSTANT)
    lifecycle.cancel(analyst, three[2])
    assert told(three[2])[0] == "cancelled"


def test_nothing_is_spent_or_drawn_before_its_moment(three, clock):
    moments.tick()
    assert [told(one)[0] for one in three] == ["spent", "reserved", "reserved"]
    lifecycle.run(three[1].pk)
    assert not transitions.spend(three[1].pk)
    assert not Drawing.objects.exists()


def test_what_was_drawn_is_told_at_its_moment_and_stamped_with_it(dataset, three, clock):
    moments.tick()
    lifecycle.run(three[0].pk)
    clock(three[0].visible_at - INSTANT)
    moments.tick()
    assert (told(three[0])[0], Result.objects.count(), kinds(dataset)[-1]) == ("spent", 0, "spend")
    with pytest.raises(IllegalTransition):
        transitions.publish(three[0].pk)
    assert same_release(dataset, three[0].question) is None
    assert cards_of(dataset.created_by, [dataset])[0].latest is None
    clock(timedelta(milliseconds=300))  # the clock need not come at the very instant
    moments.tick()
    assert [told(one)[0] for one in three] == ["published", "spent", "reserved"]
    published, spent = dataset.events.order_by("sequence")[5 + 1 : 5 + 3]
    assert (published.kind, at(published)) == ("publish", three[0].visible_at)
    assert (spent.kind, at(spent)) == ("spend", three[1].starts_at)
    assert three[0].finished_at == three[0].visible_at
    assert verify(dataset).ok


def test_a_failure_is_told_no_sooner_than_a_result(dataset, three, clock, monkeypatch):
    monkeypatch.setattr(masses, "read", lambda *_args, **_options: 1 / 0)
    moments.tick()
    lifecycle.run(three[0].pk)
    clock(three[0].visible_at - INSTANT)
    moments.tick()
    assert (told(three[0])[0], three[0].public_state) == ("spent", "queued")
    clock(INSTANT)
    moments.tick()
    assert (told(three[0])[0], three[0].public_state) == ("failed", "no_result")


def test_a_draw_that_takes_too_long_is_late_and_doubles_the_slots_for_good(
    dataset, three, analyst, ask, clock
):
    moments.tick()
    draws.claim(three[0])
    late_at, waiting = three[0].visible_at, [told(one)[1:] for one in three[1:]]
    clock(late_at)
    moments.tick()
    assert told(three[0]) == ("spent", late_at - SLOT, late_at + 2 * SLOT)
    assert three[0].late == 1
    assert [told(one)[1:] for one in three[1:]] != waiting
    assert three[1].starts_at == three[0].visible_at
    assert three[1].visible_at == three[2].starts_at == three[1].starts_at + 2 * SLOT
    assert kinds(dataset)[-3:] == ["late", "postpone", "postpone"]
    draws.give_up(three[0].pk)
    clock(three[0].visible_at)
    moments.tick()
    assert told(three[0])[0] == "failed"
    again = lifecycle.request_release(analyst, dataset, ask())
    assert again.visible_at - again.starts_at == 2 * SLOT
    assert verify(dataset).ok


def test_a_draw_that_a_busy_worker_began_late_is_put_off_and_nothing_is_doubled(dataset, three, clock):
    moments.tick()
    clock(three[0].visible_at - SLOT / 2 + INSTANT)
    draws.claim(three[0])
    now = clock(three[0].visible_at)
    moments.tick()
    assert told(three[0])[2] == now + SLOT
    assert Dataset.objects.get().slot_doublings == three[0].late == 0
    clock(three[0].visible_at)
    moments.tick()
    assert (told(three[0])[0], three[0].late) == ("spent", 1)  # now it has had its time


@pytest.mark.parametrize("state", ["running", "drawn", "failed"])
def test_whether_it_is_put_off_does_not_depend_on_what_came_of_it(dataset, three, clock, state):
    """Else whoever makes workers begin late would choose how long a draw may take to be told in time."""
    moments.tick()
    clock(three[0].visible_at - SLOT / 2 + INSTANT)
    draws.claim(three[0])
    Drawing.objects.update(state=state, content=b"a map", sha256=hashlib.sha256(b"a map").hexdigest())
    now = clock(three[0].visible_at)
    moments.tick()
    assert told(three[0]) == ("spent", now - SLOT, now + SLOT)
    assert kinds(dataset)[-3:] == ["postpone"] * 3
    assert Dataset.objects.get().slot_doublings == three[0].late == 0
    for tell in (transitions.publish, transitions.fail):
        with pytest.raises(IllegalTransition):
            tell(three[0].pk)


def test_a_release_that_no_worker_began_is_put_off_and_nothing_is_doubled(dataset, three, clock):
    moments.tick()
    now = clock(three[0].visible_at)
    moments.tick()
    assert told(three[0])[2] == now + SLOT
    assert Dataset.objects.get().slot_doublings == three[0].late == 0
    assert kinds(dataset)[-1] == "postpone"
    assert verify(dataset).ok


def test_a_clock_that_was_away_gives_whole_slots(dataset, three, clock):
    now = clock(timedelta(hours=1))
    moments.tick()
    assert told(three[0]) == ("spent", now, now + SLOT)
    assert told(three[1]) == ("reserved", now + SLOT, now + 2 * SLOT)
    spent = dataset.events.get(kind="spend")
    assert at(spent) == now
    assert Dataset.objects.get().slot_doublings == 0
    assert verify(dataset).ok


def test_moments_that_were_changed_by_hand_are_found(dataset, three):
    Release.objects.filter(pk=three[1].pk).update(visible_at=three[1].visible_at + INSTANT)
    assert "moments" in verify(dataset).problem
    Release.objects.filter(pk=three[1].pk).update(visible_at=three[1].visible_at)
    assert verify(dataset).ok
    Dataset.objects.update(slot_doublings=1)
    assert "length of slots" in verify(dataset).problem


@pytest.mark.parametrize("whose", ["person", "dataset"])
def test_questions_have_a_daily_number(  # noqa: PLR0917 - fixtures
    whose, dataset, analyst, steward, ask, settings, clock
):
    settings.MOST_QUESTIONS_A_DAY = {"person": 1000, "dataset": 1000} | {whose: 2}
    for _ in range(2):
        lifecycle.request_release(analyst, dataset, ask(epsilon="0.01"))
        clock(timedelta(hours=1))
    with pytest.raises(TooManyQuestions) as refused:
        lifecycle.request_release(analyst, dataset, ask(epsilon="0.01"))
    assert dataset.accounts.get(kind="presence").committed == 2 * 10**10
    if whose == "person":
        lifecycle.request_release(steward, dataset, ask(epsilon="0.01"))
    clock(refused.value.again_at - INSTANT)
    with pytest.raises(TooManyQuestions):
        lifecycle.request_release(analyst, dataset, ask(epsilon="0.01"))
    clock(INSTANT)
    assert lifecycle.request_release(analyst, dataset, ask(epsilon="0.01"))


def test_epsilon_has_a_floor(dataset, analyst, ask):
    assert lifecycle.request_release(analyst, dataset, ask(epsilon="0.001"))
    with pytest.raises(ParameterError, match=r"epsilon is 0\.00099"):
        lifecycle.request_release(analyst, dataset, ask(epsilon="0.00099"))


@pytest.fixture
def rows(make_dataset, add_checkins, analyst, ask):
    """A release each of six datasets, two of which are of the next size class."""
    made = {}
    for at in range(6):
        dataset = make_dataset(f"place-{at}", row_capacity=10**6 if at > 3 else 10**5)
        add_checkins(dataset)
        made[at] = lifecycle.request_release(analyst, dataset, ask())
    return made


def test_a_place_is_taken_until_the_public_moment_however_soon_it_is_drawn(rows, settings, clock):
    settings.DRAW_PLACES = settings.DRAW_PLACES | {10**5: 2, 10**6: 1}
    moments.tick()
    states = [told(one)[0] for one in rows.values()]
    assert states == ["spent", "spent", "reserved", "reserved", "spent", "reserved"]
    for at in (0, 1, 4):
        lifecycle.run(rows[at].pk)
    clock(rows[0].visible_at - INSTANT)
    moments.tick()
    assert [told(one)[0] for one in rows.values()] == states
    clock(INSTANT)
    moments.tick()
    states = [told(one)[0] for one in rows.values()]
    assert states == ["published", "published", "spent", "spent", "published", "spent"]


def test_who_waits_longest_for_a_place_comes_first_and_gets_a_whole_slot(rows, settings, clock):
    settings.DRAW_PLACES = settings.DRAW_PLACES | {10**5: 1}
    with transitions.locked(rows[3].dataset_id) as ledger:
        delaying._move(ledger, "postpone", rows[3], rows[0].starts_at - INSTANT, rows[3].visible_at)
    moments.tick()
    assert [told(rows[at])[0] for at in range(4)] == ["reserved"] * 3 + ["spent"]
    lifecycle.run(rows[3].pk)
    now = clock(rows[3].visible_at)
    moments.tick()
    assert [told(rows[at])[0] for at in range(4)] == ["spent", "reserved", "reserved", "published"]
    assert told(rows[0])[1:] == (now, now + SLOT)
    assert kinds(rows[0].dataset)[-2:] == ["postpone", "spend"]
