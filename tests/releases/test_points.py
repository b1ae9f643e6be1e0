"""Central points: asked for, charged, drawn and published by the same functions as maps."""

import pytest

from heatmaps import masses
from heatmaps.ledger.errors import BudgetExceeded, IdempotencyConflict
from heatmaps.models import Release
from heatmaps.releases import lifecycle
from heatmaps.releases.engine import draw_of
from heatmaps.releases.request import Plan
from mechanisms.check import ParameterError
from mechanisms.expected_error import PointError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.results.point import Point
from tests.services.draws import carry_out

ONE = 10**12


@pytest.fixture
def panel(make_dataset, add_checkins):
    """About 157 km across, 50 persons enrolled, radius 50 km: a whole record is about three radii."""
    made = make_dataset("panel", Relation.REPLACE, radius_m=50_000, limits={"record": "3", "radius": "2"})
    add_checkins(made)
    return made


@pytest.fixture
def ask_point(ask):
    def make(**changes):
        return ask(**{"mechanism": "exponential", "resolution": None} | changes)

    return make


def committed(dataset):
    return {str(account.kind): account.committed for account in dataset.accounts.all()}


def done(release):
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"
    return release


def test_a_point_is_drawn_and_published(analyst, panel, ask_point):
    release = done(lifecycle.request_release(analyst, panel, ask_point()))
    point = lifecycle.result_of(release)
    assert isinstance(point, Point)
    assert 0 <= point.lat <= 1
    assert 0 <= point.lon <= 1
    assert release.resolution is None
    assert point.expected_m == release.expected_error["expected_m"]
    with pytest.raises(ValueError, match="no map"):
        lifecycle.heatmap_of(release)


def test_near_the_truth_with_much_budget(analyst, make_dataset, add_checkins, ask_point):
    panel = make_dataset("rich", Relation.REPLACE, radius_m=50_000, limits={"record": None, "radius": "20"})
    add_checkins(panel)
    release = done(lifecycle.request_release(analyst, panel, ask_point(epsilon="20")))
    point, means = lifecycle.result_of(release), means_of(panel, release)
    assert point.lon == pytest.approx(means[0], abs=0.05)
    assert point.lat == pytest.approx(means[1], abs=0.05)


def means_of(dataset, release):
    read = masses.read_means(dataset, release.version, enrolled=50)
    return read.x / 50 / 2**32, read.y / 50 / 2**32


def test_epsilon_is_the_charge_at_the_radius_and_a_whole_record_costs_more(analyst, panel, ask_point):
    release = lifecycle.request_release(analyst, panel, ask_point())
    charged = committed(panel)
    assert ONE // 2 * 0.999 <= charged["radius"] <= ONE // 2
    assert 1.4 * ONE < charged["record"] < 1.7 * ONE  # 0.5 · 157 km / 50 km
    assert charged["delta"] == 0
    guarantee = Guarantee.from_json(release.guarantee)
    assert guarantee.loss(25_000) < 0.51 * guarantee.loss(50_000)


def test_a_whole_record_that_does_not_fit_is_refused(analyst, panel, ask_point):
    quote = lifecycle.quote(panel, ask_point(epsilon="1"))
    assert not quote.affordable
    assert isinstance(quote.expected_error, PointError)
    with pytest.raises(BudgetExceeded):
        lifecycle.request_release(analyst, panel, ask_point(epsilon="1"))


def test_the_same_question_is_answered_free_of_charge(analyst, panel, ask_point):
    first = done(lifecycle.request_release(analyst, panel, ask_point()))
    before = committed(panel)
    assert lifecycle.request_release(analyst, panel, ask_point()) == first
    spelled = ask_point(parameters=dict(first.parameters))  # the spacing that was left to the mechanism
    assert lifecycle.request_release(analyst, panel, spelled) == first
    assert committed(panel) == before


def test_a_key_is_bound_to_its_question(analyst, panel, ask_point, ask):
    first = lifecycle.request_release(analyst, panel, ask_point(), idempotency_key="k")
    assert lifecycle.request_release(analyst, panel, ask_point(), idempotency_key="k") == first
    with pytest.raises(IdempotencyConflict):
        lifecycle.request_release(analyst, panel, ask(), idempotency_key="k")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"resolution": 16}, "resolution is 16, allowed: none: what is released has no cells"),
        ({"rectangle": [0.1, 0.1, 0.5, 0.5]}, "rectangle is 'a part of the region', allowed: all of it"),
        ({"parameters": {"width": "3"}}, "width is 3"),
        ({"parameters": {"spacing_m": "0.001"}}, "spacing_m is 0.001"),
        ({"mechanism": "sparse-emd"}, "resolution is missing, allowed: a power of two from 2 to 65536"),
    ],
)
def test_what_does_not_fit_the_kind_is_refused_before_anything_is_spent(panel, ask_point, changes, complaint):
    with pytest.raises(ParameterError, match=complaint):
        Plan.of(panel, ask_point(**changes))


def test_it_is_refused_where_the_number_of_persons_is_secret(dataset, ask_point):
    with pytest.raises(ParameterError, match=r"relation is add_remove|radius_m is missing"):
        Plan.of(dataset, ask_point())


def test_a_period_costs_a_whole_record_at_every_distance(panel, ask_point):
    plan = Plan.of(panel, ask_point(since="2026-01-01"))
    assert plan.guarantee.loss(1) == plan.guarantee.loss(10**6) > 1.4


def test_a_stored_release_builds_the_same_draw(analyst, panel, ask_point):
    release = lifecycle.request_release(analyst, panel, ask_point(parameters={"spacing_m": "900"}))
    stored = Release.objects.get(pk=release.pk)
    assert draw_of(stored) == Plan.of(panel, ask_point(parameters={"spacing_m": "900"})).draw
    assert stored.parameters == {"spacing_m": "900"}
