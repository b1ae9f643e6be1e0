"""The life of a round at the analyser: planned, fixed, open, handed over, published."""

import hashlib
import json
from datetime import timedelta
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.collections import facts, handover, plans, round_keys, rounds
from heatmaps.collections.errors import BatchDiffers, NoCollection, RoundIsFixed, RoundNotOpen
from heatmaps.collections.rounds import RoundState
from heatmaps.ingest import uploads
from heatmaps.ledger import transitions, verification
from heatmaps.ledger.errors import BudgetExceeded
from heatmaps.models import Account, Drawing, Event, Release, ReleaseState, Round
from heatmaps.releases import clock as release_clock
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Trust
from tests.collections.devices import batch_of, bits_of, sealed
from tests.services import seed

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture
def planned(steward, dataset, ask, clock):
    made = rounds.plan(steward, dataset, ask(), opens_at=clock.now + HOUR, closes_at=clock.now + 2 * HOUR)
    return rounds.round_of(dataset, made.number)


@pytest.fixture
def fixed(planned, shuffler):
    handover.fix(planned.pk, shuffler.part())
    return again(planned)


def again(found):
    return rounds.round_of(found.release.dataset, found.number)


def committed(dataset):
    return {str(row.kind): row.committed for row in Account.objects.filter(dataset=dataset)}


def hand_over(found, reports, ones=(3, 5)):
    messages = [
        message for _ in range(reports) for message in sealed(found.facts, bits_of(found.facts, ones))
    ]
    batch, digest = batch_of(messages)
    return handover.take(found.pk, sha256=digest, reports=reports, blocks=[batch])


def run_to_the_end(found, clock):
    release_clock.tick()
    lifecycle.run(found.pk)
    clock.pass_by(hours=1)
    release_clock.tick()
    return again(found)


def kept_files():
    return [*handover.batch_folder().iterdir(), *round_keys.kept()]


def test_it_charges_before_the_first_report(planned, dataset):
    assert committed(dataset)["radius"] > 0
    assert rounds.state_of(planned) is RoundState.PLANNED
    assert planned.release.state == ReleaseState.RESERVED
    kinds = Event.objects.filter(dataset=dataset).order_by("sequence").values_list("kind", flat=True)
    assert list(kinds) == ["open", "version", "reserve"]
    assert verification.verify(dataset).ok


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


def test_its_promise_is_that_of_a_shuffler(fixed):
    guarantee = Guarantee.from_json(fixed.release.guarantee)
    assert guarantee.trust is Trust.SHUFFLE
    assert guarantee.if_shuffler_fails is not None
    assert not guarantee.simulated


def test_one_operator_leaves_what_devices_do_alone(steward, make_collection, ask, clock):
    dataset = make_collection(shuffler_operator="city office", limits={"radius": "100", "delta": "0.01"})
    alone = rounds.quote(dataset, ask())
    apart = rounds.quote(make_collection("apart"), ask())
    assert alone.guarantee.trust is Trust.LOCAL
    assert alone.guarantee.simulated
    assert alone.guarantee.loss(600) == apart.guarantee.if_shuffler_fails.loss(600)
    assert alone.guarantee.loss(600) > apart.guarantee.loss(600)


def test_several_reports_in_a_round_cost_as_many_times(dataset, ask):
    far = {"cell_m": "600", "reach_m": "40000"}
    small = {"epsilon": "0.1", "delta": "0.000000001", "parameters": far}
    one = rounds.quote(dataset, ask(**small))
    three = rounds.quote(dataset, ask(**small, reports_per_person=3))
    assert three.guarantee.loss(600) == 3 * one.guarantee.loss(600)
    assert three.guarantee.delta > 3 * one.guarantee.delta
    assert three.per_report == one.per_report


def test_rounds_add_up(steward, dataset, ask, clock, planned):
    before = committed(dataset)
    opens_at = planned.release.visible_at + HOUR
    rounds.plan(steward, dataset, ask(), opens_at=opens_at, closes_at=opens_at + HOUR)
    assert committed(dataset) == {kind: 2 * units for kind, units in before.items()}
    assert verification.verify(dataset).ok


def test_rounds_do_not_overlap(steward, dataset, ask, clock, planned):
    opens_at = planned.closes_at - HOUR / 2
    with pytest.raises(ParameterError, match="opens_at"):
        rounds.plan(steward, dataset, ask(), opens_at=opens_at, closes_at=opens_at + HOUR)
    assert Round.objects.count() == 1
    assert len(round_keys.kept()) == 1


def test_a_round_over_the_limit_is_refused_whole(steward, dataset, ask, clock):
    with pytest.raises(BudgetExceeded):
        rounds.plan(
            steward,
            dataset,
            ask(mechanism="frequency", epsilon="11", delta=None, parameters={}, reports_per_person=2),
            opens_at=clock.now + HOUR,
            closes_at=clock.now + 2 * HOUR,
        )
    assert not Release.objects.exists()
    assert not dataset.versions.exists()
    assert round_keys.kept() == []


def test_without_a_shuffler_it_is_cancelled_and_costs_nothing(planned, dataset, clock):
    clock.pass_by(hours=1, seconds=1)
    assert rounds.state_of(again(planned)) is RoundState.CANCELLED
    release_clock.tick()
    assert again(planned).release.state == ReleaseState.CANCELLED
    assert set(committed(dataset).values()) == {0}
    handover.forget_ended()
    assert kept_files() == []
    assert verification.verify(dataset).ok


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


def test_with_too_few_nothing_is_published_and_the_charge_stays(fixed, dataset, clock):
    clock.pass_by(hours=1)
    release_clock.tick()
    spent = committed(dataset)
    clock.pass_by(hours=1)
    handover.take(fixed.pk, sha256=hashlib.sha256(b"").hexdigest(), reports=19, blocks=[])
    ended = run_to_the_end(fixed, clock)
    assert rounds.state_of(ended) is RoundState.NO_RESULT
    assert committed(dataset) == spent
    assert kept_files() == []
    assert verification.verify(dataset).ok


def test_a_full_batch_of_too_few_reports_is_not_opened(fixed, clock, monkeypatch):
    clock.pass_by(hours=2)
    monkeypatch.setattr("heatmaps.collections.analysis.opened", lambda *_, **__: pytest.fail("opened"))
    hand_over(fixed, 19)
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.NO_RESULT


def test_it_is_handed_over_once(fixed, clock):
    clock.pass_by(hours=2)
    assert hand_over(fixed, 21)
    path, found = handover.batch_path(fixed.pk), again(fixed)
    content = path.read_bytes()
    assert not handover.take(fixed.pk, sha256=found.batch_sha256, reports=21, blocks=[content])
    with pytest.raises(BatchDiffers):
        hand_over(fixed, 21)
    assert path.read_bytes() == content
    assert [entry.name for entry in handover.batch_folder().iterdir()] == [path.name]


def test_nothing_is_handed_over_before_the_closing(fixed, clock):
    clock.pass_by(hours=2, seconds=-1)
    with pytest.raises(RoundNotOpen):
        hand_over(fixed, 21)
    assert list(handover.batch_folder().iterdir()) == []


@pytest.mark.parametrize("fault", ["digest", "reports", "size", "too_much"])
def test_a_batch_that_is_not_what_it_says_is_refused_and_leaves_nothing(fixed, clock, fault):
    clock.pass_by(hours=2)
    batch, digest = batch_of(sealed(fixed.facts, [b"\0"] * 5))
    told = {"sha256": digest, "reports": 21, "blocks": [batch]}
    if fault == "digest":
        told["sha256"] = "0" * 64
    elif fault == "reports":
        told["reports"] = 41
    elif fault == "size":
        told |= {"blocks": [batch[1:]], "sha256": hashlib.sha256(batch[1:]).hexdigest()}
    else:
        told["reports"] = 0
    with pytest.raises(ParameterError):
        handover.take(fixed.pk, **told)
    assert list(handover.batch_folder().iterdir()) == []
    assert again(fixed).reports is None


def test_messages_that_cannot_be_opened_are_dropped(fixed, clock):
    clock.pass_by(hours=2)
    messages = [m for _ in range(25) for m in sealed(fixed.facts, bits_of(fixed.facts, (3, 5)))]
    messages += [bytes(48) + bytes([last]) for last in range(3)] + sealed(
        fixed.facts.replace("walks", "talks"), [b"\1"] * 3
    )
    batch, digest = batch_of(messages[6:])
    handover.take(fixed.pk, sha256=digest, reports=25, blocks=[batch])
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


def test_a_worker_that_died_is_no_loss(fixed, clock):
    """Nothing is drawn, so that the messages may be read again."""
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    release_clock.tick()
    assert Drawing.objects.create(release=fixed.release, lease_until=clock.now).state == "running"
    clock.pass_by(seconds=settings.LEASE_SECONDS)
    lifecycle.sweep()
    assert not Drawing.objects.exists()
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


def test_a_promise_that_changed_publishes_nothing(fixed, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    Round.objects.update(least_honest=21)
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.NO_RESULT


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


def test_a_collection_takes_no_uploads_and_answers_no_questions(dataset, steward):
    with pytest.raises(PermissionDenied, match="collection"):
        uploads.receive(steward, dataset, BytesIO(b"user,time,lat,lon\n"), name="a.csv")
    with pytest.raises(PermissionDenied, match="collection"):
        uploads.advance(steward, dataset)
    with pytest.raises(PermissionDenied, match="collection"):
        lifecycle.request_release(steward, dataset, ReleaseRequest(mechanism="laplace", epsilon="1"))


def test_only_stewards_plan(dataset, analyst, ask, clock):
    with pytest.raises(PermissionDenied):
        rounds.plan(analyst, dataset, ask(), opens_at=clock.now + HOUR, closes_at=clock.now + 2 * HOUR)


def test_an_uploaded_dataset_has_no_rounds(steward, ask):
    dataset = seed.make_dataset(steward, "files")
    with pytest.raises(NoCollection):
        rounds.quote(dataset, ask())
    with pytest.raises(Http404):
        rounds.round_of(dataset, 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "21"}, "epsilon"),
        ({"least_honest": 1}, "least_honest"),
        ({"least_honest": 41}, "least_honest"),
        ({"dishonest_share": "0.6"}, "dishonest_share"),
        ({"reports_per_person": 0}, "reports_per_person"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"resolution": 16}, "resolution"),
        ({"delta": "0.6"}, "delta"),
        ({"mechanism": "planar-geometric", "resolution": 16, "parameters": {}}, "delta"),
    ],
)
def test_what_cannot_be_is_refused_by_name(dataset, ask, changes, field):
    with pytest.raises(ParameterError) as refusal:
        rounds.quote(dataset, ask(**changes))
    assert refusal.value.parameter == field


def test_open_links_take_no_shares(make_collection, ask):
    dataset = make_collection(open_link=True, limits={"radius": "100", "delta": "0.01"})
    with pytest.raises(ParameterError, match="open link"):
        rounds.quote(dataset, ask(mechanism="shuffle-emd", resolution=16, parameters={}))
    quoted = rounds.quote(dataset, ask())
    assert quoted.most_reports == 40
    # Who reads the result could be the whole crowd but one.
    assert quoted.guarantee == quoted.device.per_report.if_shuffler_fails


def test_fewest_reports_are_rounded_up(dataset, ask):
    quoted = rounds.quote(dataset, ask(least_honest=19, dishonest_share="0.05"))
    assert quoted.least_reports == 20
    assert plans.least_reports(20, quoted.dishonest_share) == 22


def plan_later(steward, dataset, ask, found, **changes):
    """A round behind another one."""
    opens_at = found.release.visible_at + HOUR
    made = rounds.plan(steward, dataset, ask(**changes), opens_at=opens_at, closes_at=opens_at + HOUR)
    return rounds.round_of(dataset, made.number)


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


def test_a_limit_that_is_set_later_changes_no_round(steward, make_collection, ask, clock, shuffler):
    """Without a limit of whole records the reach is the radius; a limit alone would make it the region's."""
    dataset = make_collection(
        "alone", shuffler_operator="City office", limits={"radius": "200", "delta": "0.01"}
    )
    planned = rounds.plan(
        steward,
        dataset,
        ask(mechanism="rr-shuffle"),
        opens_at=clock.now + HOUR,
        closes_at=clock.now + 2 * HOUR,
    )
    planned = rounds.round_of(dataset, planned.number)
    record = Account.objects.get(dataset=dataset, kind="record")
    transitions.change_limit(record, 10**15, actor=steward, reason="agreed")
    handover.fix(planned.pk, shuffler.part())
    assert plans.keeps_promise(again(planned).release, plans.of_round(again(planned)))


def test_another_program_fixes_no_round(planned, shuffler):
    Release.objects.update(guarantee={**planned.release.guarantee, "delta": "1/7"})
    with pytest.raises(RoundNotOpen, match="another version"):
        handover.fix(planned.pk, shuffler.part())


def test_a_fault_of_the_machine_is_no_end(fixed, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    release_clock.tick()
    away = round_keys.load(fixed.pk)
    path = next(iter(Path(settings.KEY_DIR).glob(f"*{fixed.pk}*")))
    moved = path.rename(path.with_suffix(".away"))
    lifecycle.run(fixed.pk)
    assert not Drawing.objects.exists()
    moved.rename(path)
    assert away is not None
    assert rounds.state_of(run_to_the_end(fixed, clock)) is RoundState.PUBLISHED


@pytest.mark.parametrize("column", ["closes_at", "least_honest", "reports_per_person", "dishonest_share"])
def test_a_row_that_is_not_what_its_facts_say_is_found(fixed, dataset, column):
    values = {"closes_at": fixed.closes_at + HOUR, "dishonest_share": Fraction(1, 7)}
    Round.objects.update(**{column: values.get(column, 3)})
    assert "its facts say" in verification.verify(dataset).problem


def test_reports_that_are_edited_after_the_result_are_found(fixed, dataset, clock):
    clock.pass_by(hours=2)
    hand_over(fixed, 25)
    run_to_the_end(fixed, clock)
    assert verification.verify(dataset).ok
    Round.objects.update(reports=26)
    assert "reports" in verification.verify(dataset).problem


def test_a_charge_that_an_open_round_got_back_is_found(fixed, dataset, clock, monkeypatch):
    """The guard of the move is taken out: the chain is refused all the same."""
    clock.pass_by(hours=1, minutes=30)
    monkeypatch.setattr("heatmaps.ledger.events.time.time_ns", lambda: int(clock.now.timestamp() * 10**9))
    with monkeypatch.context() as patched:
        patched.setattr("heatmaps.ledger.transitions.drawing.Round.objects", Round.objects.none())
        assert transitions.cancel(fixed.pk, actor=None)
    assert "charge of an open round" in verification.verify(dataset).problem


def test_by_an_open_link_a_person_sends_one(make_collection, ask):
    dataset = make_collection(open_link=True, limits={"radius": "100", "delta": "0.01"})
    with pytest.raises(ParameterError, match="reports_per_person"):
        rounds.quote(dataset, ask(reports_per_person=2))


def test_reports_that_together_promise_nothing_are_refused(dataset, ask):
    with pytest.raises(ParameterError, match="reports_per_person"):
        rounds.quote(dataset, ask(reports_per_person=50))
