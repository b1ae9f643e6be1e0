"""Asking for a release: who may, what is reserved, what is free, and the same request sent twice."""

import json
from dataclasses import asdict
from unittest import mock

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404

from heatmaps.ledger.errors import BudgetExceeded, IdempotencyConflict
from heatmaps.ledger.verification import verify
from heatmaps.models import Membership, Release, RequestKey
from heatmaps.releases import clock, lifecycle
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from tests.services.draws import carry_out

ONE = 10**12


def committed(dataset, kind="presence"):
    return dataset.accounts.get(kind=kind).committed


def test_it_reserves_and_sends_the_id_alone(dataset, analyst, ask, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        release = lifecycle.request_release(analyst, dataset, ask())
    assert not sent  # no worker is told before its moment
    release.refresh_from_db()
    assert (release.state, release.requested_by, release.version.number) == ("reserved", analyst, 1)
    with django_capture_on_commit_callbacks() as callbacks:
        clock.tick()
    assert not sent  # nothing leaves before the commit
    callbacks[0]()
    assert sent == [("heatmaps.release", str(release.pk))]
    assert committed(dataset) == ONE // 2
    expected = lifecycle.quote(dataset, ask()).expected_error
    assert release.expected_error == json.loads(json.dumps(asdict(expected)))
    assert verify(dataset).ok


def test_it_lets_stewards_and_analysts_ask_and_nobody_else(dataset, steward, analyst, ask):
    auditor, stranger = User.objects.create_user("auditor"), User.objects.create_user("stranger")
    Membership.objects.create(dataset=dataset, user=auditor, role="auditor")
    for person, refusal in [(auditor, PermissionDenied), (stranger, Http404), (AnonymousUser(), Http404)]:
        with pytest.raises(refusal):
            lifecycle.request_release(person, dataset, ask())
    assert not Release.objects.exists()
    for person in (steward, analyst):
        lifecycle.request_release(person, dataset, ask())


def test_it_writes_nothing_for_a_request_that_is_refused(dataset, analyst, ask):
    with pytest.raises(ParameterError):
        lifecycle.request_release(analyst, dataset, ask(epsilon="21"))
    with pytest.raises(BudgetExceeded):
        lifecycle.request_release(analyst, dataset, ask(epsilon="2.1"), idempotency_key="k")
    assert not Release.objects.exists()
    assert not RequestKey.objects.exists()
    assert committed(dataset) == 0


def test_it_refuses_while_there_is_no_data_version(make_dataset, analyst, ask):
    with pytest.raises(lifecycle.NoDataVersion) as caught:
        lifecycle.request_release(analyst, make_dataset(), ask())
    assert caught.value.code == "no_data_version"


def test_it_answers_a_published_question_free_of_charge(dataset, analyst, steward, ask):
    first = lifecycle.request_release(analyst, dataset, ask())
    carry_out(first.pk)
    quote = lifecycle.quote(dataset, ask(epsilon="0.50"))
    assert (quote.same_release, quote.affordable) == (first, True)
    events = dataset.events.count()
    assert lifecycle.request_release(steward, dataset, ask()) == first
    assert committed(dataset) == ONE // 2
    assert dataset.events.count() == events


def test_it_charges_again_before_the_answer_is_published_and_after_the_data_moved_on(
    dataset, analyst, add_checkins, ask
):
    first = lifecycle.request_release(analyst, dataset, ask())
    second = lifecycle.request_release(analyst, dataset, ask())
    carry_out(first.pk)
    add_checkins(dataset, seed=2)
    assert lifecycle.quote(dataset, ask()).same_release is None
    third = lifecycle.request_release(analyst, dataset, ask())
    assert len({first.pk, second.pk, third.pk}) == 3
    assert (second.version.number, third.version.number) == (1, 2)
    assert committed(dataset) == 3 * ONE // 2


def test_it_offers_a_free_answer_even_when_nothing_is_left(dataset, analyst, ask):
    first = lifecycle.request_release(analyst, dataset, ask(epsilon="2"))
    carry_out(first.pk)
    assert lifecycle.quote(dataset, ask(epsilon="2")).affordable
    assert lifecycle.request_release(analyst, dataset, ask(epsilon="2")) == first
    with pytest.raises(BudgetExceeded):
        lifecycle.request_release(analyst, dataset, ask(epsilon="1.9"))


def test_it_answers_the_same_key_with_the_same_release(dataset, analyst, ask):
    first = lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")
    again = lifecycle.request_release(analyst, dataset, ask(epsilon="0.50"), idempotency_key="k")
    assert first == again
    assert committed(dataset) == ONE // 2


def test_it_answers_the_same_key_after_the_data_moved_on(dataset, analyst, add_checkins, ask):
    first = lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")
    add_checkins(dataset, seed=2)
    assert lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k") == first


@pytest.mark.parametrize(
    "changes",
    [{"epsilon": "0.4"}, {"resolution": 32}, {"mechanism": "laplace"}, {"parameters": {"width": 7}}],
)
def test_it_refuses_the_same_key_with_another_body(dataset, analyst, ask, changes):
    lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, dataset, ask(**changes), idempotency_key="k")
    assert committed(dataset) == ONE // 2


def test_it_remembers_the_key_of_a_free_answer(dataset, analyst, add_checkins, ask):
    first = lifecycle.request_release(analyst, dataset, ask())
    carry_out(first.pk)
    assert lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k") == first
    with pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, dataset, ask(epsilon="0.4"), idempotency_key="k")
    add_checkins(dataset, seed=2)
    assert lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k") == first
    assert committed(dataset) == ONE // 2


def test_it_keeps_the_keys_of_people_and_datasets_apart(dataset, make_dataset, analyst, steward, ask):
    first = lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")
    assert lifecycle.request_release(steward, dataset, ask(), idempotency_key="k") != first
    other = make_dataset("other")
    with pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, other, ask(), idempotency_key="k")


def test_it_refuses_a_key_that_another_dataset_took_at_the_same_moment(
    dataset, make_dataset, add_checkins, analyst, ask
):
    other = make_dataset("other")
    add_checkins(other)
    lifecycle.request_release(analyst, other, ask(), idempotency_key="k")
    real, calls = lifecycle.earlier_use, []

    def late(requester, key):
        # The first look finds nothing yet, as when both requests look at once.
        calls.append(key)
        return None if len(calls) == 1 else real(requester, key)

    with mock.patch.object(lifecycle, "earlier_use", late), pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")
    assert committed(dataset) == 0


def test_it_hides_no_other_integrity_error(dataset, analyst, ask):
    with (
        mock.patch.object(lifecycle.transitions, "reserve", side_effect=IntegrityError),
        pytest.raises(IntegrityError),
    ):
        lifecycle.request_release(analyst, dataset, ask(), idempotency_key="k")


@pytest.mark.parametrize("key", ["", "x" * 121, "a\nb", "schlüssel"])
def test_it_refuses_keys_that_no_header_carries(dataset, analyst, ask, key):
    with pytest.raises(ParameterError) as caught:
        lifecycle.request_release(analyst, dataset, ask(), idempotency_key=key)
    assert caught.value.parameter == "Idempotency-Key"


def test_it_cancels_ones_own_queued_release(dataset, analyst, steward, ask, settings):
    settings.START_SECONDS = 60
    release = lifecycle.request_release(analyst, dataset, ask())
    with pytest.raises(PermissionDenied):
        lifecycle.cancel(steward, release)
    lifecycle.cancel(analyst, release)
    assert committed(dataset) == 0
    with pytest.raises(lifecycle.TooLateToCancel):
        lifecycle.cancel(analyst, release)
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "cancelled"
    assert verify(dataset).ok


def test_it_charges_both_accounts_under_replace(make_dataset, add_checkins, analyst, ask):
    dataset = make_dataset(relation=Relation.REPLACE)
    add_checkins(dataset)
    carry_out(lifecycle.request_release(analyst, dataset, ask()).pk)
    assert (committed(dataset, "record"), committed(dataset, "radius")) == (ONE // 2, ONE // 2)
    assert verify(dataset).ok
