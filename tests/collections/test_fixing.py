"""What both roles fix before the first report, and what is found where it is edited afterwards."""

import hashlib
import json
from fractions import Fraction

import pytest

from heatmaps.collections import facts, handover, rounds
from heatmaps.collections.errors import RoundIsFixed, RoundNotOpen
from heatmaps.ledger import verification
from heatmaps.models import Event, Release, Round
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee
from tests.collections.steps import HOUR, again

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_fixed_once(planned, shuffler):
    part = shuffler.part()
    facts = handover.fix(planned.pk, part)
    assert handover.fix(planned.pk, part) == facts
    assert again(planned).facts_sha256 == hashlib.sha256(facts.encode()).hexdigest()
    with pytest.raises(RoundIsFixed):
        handover.fix(planned.pk, shuffler.part())
    event = Event.objects.get(kind="round")
    assert json.loads(event.after)["facts_sha256"] == again(planned).facts_sha256


def test_its_facts_have_one_spelling(fixed):
    read = json.loads(fixed.facts, parse_float=pytest.fail)
    assert json.dumps(read, sort_keys=True, separators=(",", ":")) == fixed.facts
    assert fixed.facts.isascii()
    assert read["invitations"] == 40
    assert read["analyser"]["key"] != read["shuffler"]["key"]


def test_it_is_not_fixed_after_its_opening(planned, shuffler, clock):
    clock.pass_by(hours=1)
    with pytest.raises(RoundNotOpen):
        handover.fix(planned.pk, shuffler.part())
    assert not again(planned).facts


@pytest.mark.parametrize("invitations", [19, 41])
def test_the_shuffler_cannot_invite_too_few_or_too_many(planned, shuffler, invitations):
    with pytest.raises(ParameterError, match="invitations"):
        handover.fix(planned.pk, shuffler.part(invitations))


def test_the_analysers_own_key_is_no_key_of_a_shuffler(planned, shuffler):
    shuffler.key = planned.analyser_key
    with pytest.raises(ParameterError, match="key"):
        handover.fix(planned.pk, shuffler.part())


def test_edited_facts_are_found(fixed, dataset):
    Round.objects.update(facts=fixed.facts.replace("walks", "talks"))
    report = verification.verify(dataset)
    assert not report.ok
    assert str(fixed.pk) in report.problem
    Round.objects.update(facts=fixed.facts, invitations=39)
    assert not verification.verify(dataset).ok


def test_edited_operators_are_found(fixed, dataset):
    dataset.collection.shuffler_operator = "Somebody else"
    dataset.collection.save()
    assert "collection" in verification.verify(dataset).problem


def test_it_is_not_fixed_where_the_text_takes_until_the_opening(planned, shuffler, clock, monkeypatch):
    text = facts.text

    def slow(*arguments):
        clock.pass_by(hours=1)
        return text(*arguments)

    monkeypatch.setattr("heatmaps.collections.facts.text", slow)
    with pytest.raises(RoundNotOpen):
        handover.fix(planned.pk, shuffler.part())
    assert not again(planned).facts
    assert not Event.objects.filter(kind="round").exists()


@pytest.mark.unguarded
def test_another_program_fixes_no_round(planned, shuffler):
    Release.objects.update(guarantee={**planned.release.guarantee, "delta": "1/7"})
    with pytest.raises(RoundNotOpen, match="another version"):
        handover.fix(planned.pk, shuffler.part())


@pytest.mark.parametrize("column", ["closes_at", "least_honest", "reports_per_person", "dishonest_share"])
def test_a_row_that_is_not_what_its_facts_say_is_found(fixed, dataset, column):
    values = {"closes_at": fixed.closes_at + HOUR, "dishonest_share": Fraction(1, 7)}
    Round.objects.update(**{column: values.get(column, 3)})
    assert "its facts say" in verification.verify(dataset).problem


def losses(found):
    """(of one report, of one report without a shuffler), as devices are told."""
    told = json.loads(found.facts)
    return told["loss"], told["loss_alone"]


def test_devices_are_told_what_is_left_without_a_shuffler(fixed):
    left = Guarantee.from_json(fixed.release.guarantee).if_shuffler_fails
    told, alone = losses(fixed)
    assert left.loss(600) <= Fraction(alone["epsilon"]) <= left.loss(600) + Fraction(1, 10**8)
    assert Fraction(alone["epsilon"]) > 2 * Fraction(told["epsilon"])
    assert alone["radius_m"] == told["radius_m"]


ALONE = {
    "one operator": ({"shuffler_operator": "city office"}, {}),
    "open link": ({"open_link": True}, {}),
    "local": ({}, {"mechanism": "frequency", "delta": None, "parameters": {}}),
}


@pytest.mark.parametrize("case", ALONE)
def test_where_no_shuffler_stands_apart_nothing_is_lost_with_it(make_collection, ask, clock, shuffler, case):
    collection, request = ALONE[case]
    dataset = make_collection("apart", limits={"radius": "100", "delta": "0.01"}, **collection)
    opens_at = clock.now + HOUR
    steward = dataset.created_by
    made = rounds.plan(steward, dataset, ask(**request), opens_at=opens_at, closes_at=opens_at + HOUR)
    handover.fix(made.pk, shuffler.part())
    told, alone = losses(again(made))
    assert told == alone
