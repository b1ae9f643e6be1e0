"""Every pair of moves, legal and illegal."""

import hashlib
import itertools

import pytest
from django.db import IntegrityError

from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.transitions import moves as table
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, Release, ReleaseState, Result
from tests.services import draws

CONTENT = draws.CONTENT
DIGEST = hashlib.sha256(CONTENT).hexdigest()
ONE = 10**12


def spend(release):
    return transitions.spend(release.pk)


def publish(release):
    return draws.publish(release.pk, CONTENT)


def fail(release):
    return draws.fail(release.pk)


def cancel(release):
    return transitions.cancel(release.pk, actor=None)


MOVES = {"spend": spend, "publish": publish, "fail": fail, "cancel": cancel}
WAYS = {
    ReleaseState.RESERVED: [],
    ReleaseState.SPENT: [spend],
    ReleaseState.PUBLISHED: [spend, publish],
    ReleaseState.FAILED: [spend, fail],
    ReleaseState.CANCELLED: [cancel],
}
LEGAL = {
    ("reserved", "spend"): "spent",
    ("reserved", "cancel"): "cancelled",
    ("spent", "publish"): "published",
    ("spent", "fail"): "failed",
}


@pytest.fixture
def release_in(dataset, reserve):
    def make(state):
        release = reserve(dataset)
        for move in WAYS[state]:
            move(release)
        release.refresh_from_db()
        assert release.state == state
        return release

    return make


def outcome_of(move, release):
    try:
        return move(release)
    except IllegalTransition as error:
        return error.move, error.state


def snapshot(dataset):
    accounts = list(dataset.accounts.values_list("kind", "committed", "unbounded"))
    return accounts, list(dataset.releases.values()), dataset.events.count(), Result.objects.count()


@pytest.mark.parametrize(("state", "name"), list(itertools.product(WAYS, MOVES)))
def test_it_makes_legal_moves_and_refuses_all_others(dataset, release_in, state, name):
    release = release_in(state)
    before, events = snapshot(dataset), dataset.events.count()
    legal = LEGAL.get((str(state), name))
    outcome = outcome_of(MOVES[name], release)
    release.refresh_from_db()
    if legal is None:
        assert outcome in (False, (name, str(state)))
        assert snapshot(dataset) == before
    else:
        assert outcome in (True, None)
        assert release.state == legal
        event = Event.objects.get(dataset=dataset, sequence=events + 1)
        assert (event.kind, event.release) == (name, release.pk)
    assert verify(dataset).ok


def test_it_knows_no_other_moves_than_these():
    moves = {name: move for name, move in table.MOVES.items() if name != "reserve"}
    told = {(str(move.before), name): str(move.after) for name, move in moves.items()}
    assert told == LEGAL | {("reserved", "lose"): "failed"}  # of a restore alone: test_restoring.py
    assert set(WAYS) == set(ReleaseState)


def test_it_reserves_a_new_release_only(dataset, reserve, steward):
    release = reserve(dataset)
    charges = {account.kind: 0 for account in dataset.accounts.all()}
    again = Release.objects.get(pk=release.pk)
    before = snapshot(dataset)
    # On SQLite a trigger refuses it first: a row inserted again might replace the one there.
    with pytest.raises(IntegrityError, match=r"(?i)unique|duplicate|never deleted"):
        transitions.reserve(again, charges, actor=steward)
    assert snapshot(dataset) == before


@pytest.mark.parametrize("kinds", [{"presence"}, {"presence", "radius"}, {"presence", "delta", "radius"}])
def test_it_charges_exactly_the_accounts_of_the_dataset(dataset, new_release, steward, kinds):
    before = snapshot(dataset)
    with pytest.raises(ValueError, match="exactly the accounts"):
        transitions.reserve(new_release(dataset), dict.fromkeys(kinds, 1), actor=steward)
    assert snapshot(dataset) == before


@pytest.mark.parametrize(
    ("state", "committed"),
    [("reserved", ONE), ("spent", ONE), ("published", ONE), ("failed", ONE), ("cancelled", 0)],
)
def test_it_gives_a_charge_back_only_by_cancelling(dataset, release_in, state, committed):
    release_in(ReleaseState(state))
    assert dataset.accounts.get(kind="presence").committed == committed


def test_it_stores_exactly_what_was_published(dataset, release_in):
    release = release_in(ReleaseState.SPENT)
    publish(release)
    assert bytes(release.result.content) == CONTENT
    assert release.result.sha256 == DIGEST


def test_it_writes_no_count_and_no_cause_into_the_event_of_a_failure(dataset, release_in):
    release_in(ReleaseState.FAILED)
    event = dataset.events.get(kind="fail")
    assert (event.before, event.after) == ('{"state":"spent"}', '{"state":"failed"}')
    assert event.actor is None


def test_it_keeps_the_kinds_of_its_own_moves_to_itself(dataset, steward):
    for kind in [*table.MOVES, "open", "limit"]:
        with pytest.raises(ValueError, match="kind is"):
            transitions.record(dataset, kind, actor=steward, before={}, after={})
    transitions.record(dataset, "note", actor=steward, before={}, after={"text": "x"})
    assert verify(dataset).ok
