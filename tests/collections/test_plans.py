"""What a round may be, what it promises and what it costs."""

from io import BytesIO

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.collections import handover, round_draws, round_keys, rounds
from heatmaps.collections.errors import NoCollection
from heatmaps.collections.rounds import RoundState
from heatmaps.ingest import uploads
from heatmaps.ledger import transitions, verification
from heatmaps.ledger.errors import BudgetExceeded
from heatmaps.models import Account, Event, Release, ReleaseState, Round
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Trust
from tests.collections.steps import HOUR, again, committed
from tests.services import seed

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_charges_before_the_first_report(planned, dataset):
    assert committed(dataset)["radius"] > 0
    assert rounds.state_of(planned) is RoundState.PLANNED
    assert planned.release.state == ReleaseState.RESERVED
    kinds = Event.objects.filter(dataset=dataset).order_by("sequence").values_list("kind", flat=True)
    assert list(kinds) == ["open", "version", "reserve"]
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
    assert three.draw.per_report == one.draw.per_report


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
    assert len(round_keys.rounds()) == 1


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
    assert round_keys.rounds() == []


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
    assert quoted.draw.most_reports == 40
    # Who reads the result could be the whole crowd but one.
    assert quoted.guarantee == quoted.draw.device.per_report.if_shuffler_fails


def test_fewest_reports_are_rounded_up(dataset, ask):
    quoted = rounds.quote(dataset, ask(least_honest=19, dishonest_share="0.05"))
    assert quoted.draw.least_reports == 20
    assert round_draws.least_reports(20, quoted.draw.dishonest_share) == 22


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
    assert round_draws.keeps_promise(again(planned).release, round_draws.draw_of(again(planned)))


def test_by_an_open_link_a_person_sends_one(make_collection, ask):
    dataset = make_collection(open_link=True, limits={"radius": "100", "delta": "0.01"})
    with pytest.raises(ParameterError, match="reports_per_person"):
        rounds.quote(dataset, ask(reports_per_person=2))


def test_reports_that_together_promise_nothing_are_refused(dataset, ask):
    with pytest.raises(ParameterError, match="reports_per_person"):
        rounds.quote(dataset, ask(reports_per_person=50))
