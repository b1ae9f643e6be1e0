"""The life of a round at the analyser: planned, fixed, open, handed over, published."""

import json

import pytest

from heatmaps.collections import handover, rounds
from heatmaps.collections.errors import RoundNotOpen
from heatmaps.collections.rounds import RoundState
from heatmaps.ledger import transitions, verification
from heatmaps.models import Event, ReleaseState, Round
from heatmaps.releases import clock as release_clock
from heatmaps.releases import lifecycle
from mechanisms.check import ParameterError
from tests.collections.steps import HOUR, again, committed, hand_over, kept_files, plan_later, run_to_the_end

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_runs_from_plan_to_result(fixed, dataset, clock):
    assert rounds.state_of(fixed) is RoundState.READY
    clock.pass_by(hours=1)
    release_clock.tick()
    assert rounds.state_of(again(fixed)) is RoundState.OPEN
    assert again(fixed).release.state == ReleaseState.SPENT
    spent = committed(dataset)
    clock.pass_by(hours=1)
    assert rounds.state_of(again(fixed)) is RoundState.CLOSED
    assert hand_over(fixed, 30)
    assert rounds.reports_of(again(fixed)) is None  # told with the result
    ended = run_to_the_end(fixed, clock)
    assert rounds.state_of(ended) is RoundState.PUBLISHED
    assert rounds.reports_of(ended) == 30
    point = lifecycle.result_of(ended.release)
    encoding = json.loads(ended.facts)["encoding"]
    # Every device sent 3 ones across and 5 along: padding is taken off, so the place is near the corner.
    assert point.lat == pytest.approx(30.0, abs=0.05)
    assert encoding["kind"] == "unary"
    assert committed(dataset) == spent
    assert kept_files() == []
    assert verification.verify(dataset).ok


def test_without_a_shuffler_it_is_cancelled_and_costs_nothing(planned, dataset, clock):
    clock.pass_by(hours=1, seconds=1)
    assert rounds.state_of(again(planned)) is RoundState.CANCELLED
    release_clock.tick()
    assert again(planned).release.state == ReleaseState.CANCELLED
    assert set(committed(dataset).values()) == {0}
    handover.forget_ended()
    assert kept_files() == []
    assert verification.verify(dataset).ok


def test_nobody_cancels_a_round_that_may_have_reports(fixed, steward, dataset, clock):
    clock.pass_by(hours=1)
    spent = committed(dataset)
    with pytest.raises(RoundNotOpen):
        rounds.cancel(steward, fixed)
    assert not transitions.cancel(fixed.pk, actor=None)
    clock.pass_by(days=400)
    release_clock.tick()
    assert again(fixed).release.state == ReleaseState.SPENT
    assert committed(dataset) == spent


def test_a_steward_cancels_before_it_opens(fixed, steward, dataset):
    rounds.cancel(steward, fixed)
    assert rounds.state_of(again(fixed)) is RoundState.CANCELLED
    assert set(committed(dataset).values()) == {0}
    assert verification.verify(dataset).ok


def test_a_clock_that_was_away_does_not_move_its_opening(fixed, clock):
    clock.pass_by(hours=3)
    release_clock.tick()
    assert again(fixed).release.state == ReleaseState.SPENT
    assert again(fixed).release.starts_at == fixed.opens_at


def test_a_round_that_nobody_hands_over_ends_and_the_next_one_goes_on(fixed, steward, ask, clock, shuffler):
    dataset = fixed.release.dataset
    later = plan_later(steward, dataset, ask, fixed)
    handover.fix(later.pk, shuffler.part())
    clock.pass_by(hours=1)
    release_clock.tick()
    clock.pass_by(days=1)
    hand_over(again(later), 25)
    events = Event.objects.count()
    for _ in range(8):
        release_clock.tick()
        clock.pass_by(days=1)
    assert Event.objects.count() < events + 30
    for _ in range(4):
        release_clock.tick()
        lifecycle.run(later.pk)
        clock.pass_by(days=1)
    assert rounds.state_of(again(fixed)) is RoundState.NO_RESULT
    assert rounds.state_of(again(later)) is RoundState.PUBLISHED
    with pytest.raises(RoundNotOpen):
        hand_over(fixed, 25)
    assert kept_files() == []
    assert verification.verify(dataset).ok


def test_a_round_that_nobody_joined_expires_behind_one_that_is_waited_for(
    fixed, steward, dataset, ask, clock
):
    later = plan_later(steward, dataset, ask, fixed)
    clock.pass_by(hours=1)
    release_clock.tick()
    clock.pass_by(days=2)
    release_clock.tick()
    assert again(later).release.state == ReleaseState.CANCELLED
    with pytest.raises(ParameterError, match="opens_at"):
        rounds.plan(steward, dataset, ask(), opens_at=clock.now + HOUR / 60, closes_at=clock.now + HOUR)


def test_a_charge_that_an_open_round_got_back_is_found(fixed, dataset, clock, monkeypatch):
    """The guard of the move is taken out: the chain is refused all the same."""
    clock.pass_by(hours=1, minutes=30)
    monkeypatch.setattr("heatmaps.ledger.events.time.time_ns", lambda: int(clock.now.timestamp() * 10**9))
    with monkeypatch.context() as patched:
        patched.setattr("heatmaps.ledger.transitions.drawing.Round.objects", Round.objects.none())
        assert transitions.cancel(fixed.pk, actor=None)
    assert "charge of an open round" in verification.verify(dataset).problem
