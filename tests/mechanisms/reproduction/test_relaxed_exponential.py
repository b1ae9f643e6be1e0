"""The relaxed exponential mechanism: its privacy from the full matrix, exactly, and its error."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest

from mechanisms.central.exponential.mechanism import Exponential
from mechanisms.central.exponential.weight_table import steepest, weight_table
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.reproduction.boedihardjo_2024 import relaxed_exponential, spaces
from mechanisms.reproduction.boedihardjo_2024.bounds import best_bound, entropic_bound
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace
from mechanisms.reproduction.boedihardjo_2024.relaxed_exponential import RelaxedExponential, to_balls_m
from mechanisms.reproduction.boedihardjo_2024.scales import diametric_scale, entropic_scale
from mechanisms.space.grid import Region
from tests.mechanisms.examples import SEED

BAIRE = spaces.sequences(4, lambda k: 800 * 2.0**-k, lambda k: 3.0**-k)  # metres, and another base
CELLS = spaces.quadtree(2)
# One place far from a crowd, all equally wrong for each other: sums of weights differ much.
_ALONG = np.array([0.0, 1.0, 1.01, 1.02, 1.03, 1.04])
CROWD = FiniteSpace(first=np.abs(np.subtract.outer(_ALONG, _ALONG)), second=1 - np.eye(6))
ONE = Target(relation=Relation.REPLACE, epsilon=Fraction(1), radius_m=Fraction(100))


def excess(mechanism):
    """How far the largest loss is above the claim, over all pairs of places and all answers."""
    rows = mechanism.weights()
    totals = [sum(row) for row in rows]
    with mpmath.workdps(50):
        worst = mpmath.mpf("-inf")
        for x, z in permutations(range(len(rows)), 2):
            ratio = max(Fraction(a, b) for a, b in zip(rows[x], rows[z], strict=True))
            ratio *= Fraction(totals[z], totals[x])
            claim = mechanism.guarantee.loss(Fraction(float(mechanism.space.first[x, z])))
            loss = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            worst = max(worst, loss - mpmath.mpf(claim.numerator) / claim.denominator)
        return worst


@pytest.mark.parametrize("alpha", [Fraction(1, 500), Fraction(1, 50), Fraction(1, 5)])
@pytest.mark.parametrize("separation", [None, 0.05])
def test_no_pair_of_places_costs_more_than_the_claim(alpha, separation):
    if separation is None:
        separation = entropic_scale(BAIRE, float(alpha) / 3).high
    assert excess(RelaxedExponential(space=BAIRE, alpha_per_m=alpha, separation=separation)) <= 0


def test_the_claim_is_nearly_reached():
    mechanism = RelaxedExponential(space=CELLS, alpha_per_m=Fraction(3), separation=0.25)
    assert -0.9 * float(mechanism.guarantee.loss(Fraction(1, 4))) < excess(mechanism) <= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FullRate(RelaxedExponential):
    """A planted fault: weights fall like exp(-ασ), without the half for the sum of all weights."""

    @property
    def step_m(self):
        return steepest(weight_table()) / self.alpha_per_m

    @property
    def guarantee(self):
        honest = RelaxedExponential(
            space=self.space, alpha_per_m=self.alpha_per_m, separation=self.separation
        )
        return honest.guarantee


def test_planted_faults_are_caught(monkeypatch):
    fields = {"space": CROWD, "alpha_per_m": Fraction(2), "separation": 0.0}
    assert excess(RelaxedExponential(**fields)) <= 0
    assert excess(FullRate(**fields)) > 0.5

    def in_the_other_metric(space, net, separation):
        return to_balls_m(FiniteSpace(first=space.second, second=space.second), net, separation)

    monkeypatch.setattr(relaxed_exponential, "to_balls_m", in_the_other_metric)
    # Weights by distances in the ultrametric that errors are measured in: no claim about the first metric.
    assert excess(RelaxedExponential(**fields | {"alpha_per_m": Fraction(5, 2)})) > 0.1


def test_distances_are_those_to_the_nearest_place_of_a_ball():
    net = RelaxedExponential(space=CELLS, alpha_per_m=Fraction(3), separation=0.5).net
    found = to_balls_m(CELLS, net, 0.5)
    assert len(net) == 4
    assert (found.min(axis=1) == 0).all()  # every place lies in a ball (5.3)
    for index, centre in enumerate(net):
        ball = CELLS.second[centre] <= 0.5
        assert (found[:, index] == CELLS.first[:, ball].min(axis=1)).all()


def test_it_spends_the_target_at_the_radius():
    mechanism = RelaxedExponential.calibrate(ONE, space=BAIRE)
    assert mechanism.guarantee.loss(100) == 1
    assert mechanism.separation == entropic_scale(BAIRE, float(mechanism.alpha_per_m) / 3).high
    with pytest.raises(ParameterError, match="radius_m"):
        RelaxedExponential.calibrate(Target(relation=Relation.REPLACE, epsilon=Fraction(1)), space=BAIRE)
    with pytest.raises(ParameterError, match="ultrametric"):
        RelaxedExponential(space=spaces.circle(5), alpha_per_m=Fraction(1), separation=0.1)


@pytest.mark.parametrize("alpha", [Fraction(1, 400), Fraction(1, 40), Fraction(1, 4)])
def test_its_error_is_between_the_bounds(alpha):
    """Not below what is certified, and Theorem 5.1 with a small constant."""
    separation = entropic_scale(BAIRE, float(alpha) / 3).high
    mechanism = RelaxedExponential(space=BAIRE, alpha_per_m=alpha, separation=separation)
    found = mechanism.expected_error()
    assert max(best_bound(BAIRE, float(alpha)), entropic_bound(BAIRE, float(alpha))) <= found
    assert found <= 2 * (separation + diametric_scale(BAIRE, float(alpha) / 7))


def test_it_draws_from_its_matrix():
    mechanism = RelaxedExponential(space=CELLS, alpha_per_m=Fraction(6), separation=0.25)
    rng, place = SeededSource(SEED), 5
    drawn = [mechanism.release(place, rng) for _ in range(4000)]
    row = np.array([float(weight) for weight in mechanism.weights()[place]])
    seen = np.array([drawn.count(answer) for answer in mechanism.net]) / 4000
    assert seen.sum() == 1
    assert np.abs(seen - row / row.sum()).max() < 0.04  # five standard errors
    with pytest.raises(ValueError, match="place"):
        mechanism.release(16, rng)


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(8)])
def test_no_bound_is_above_the_error_of_the_exponential_mechanism(epsilon):
    """The mean of one person, in the candidates' places, from the law of each."""
    mechanism = Exponential.calibrate(
        Target(relation=Relation.REPLACE, epsilon=epsilon, radius_m=Fraction(2000)),
        region=Region(10.0, 50.0, 10.05, 50.02),
        persons=1,
    )
    net = mechanism.net
    columns, rows = (range(0, count, max(1, count // 4)) for count in (net.columns, net.rows))
    places = [(column, row) for column in columns for row in rows]
    metres = np.array([net.width_um / net.columns, net.height_um / net.rows]) / 1e6
    errors = []
    for column, row in places:
        x, y = ((2 * i + 1) * PARTS // (2 * n) for i, n in ((column, net.columns), (row, net.rows)))
        law = mechanism.law(RecordMeans(persons=1, x=x, y=y))
        ends = [0, *law.ends]
        more = {place: b - a for place, a, b in zip(law.places, ends, ends[1:], strict=False)}
        errors.append(
            sum(
                (law.last + more.get((c, r), 0)) / law.total * np.hypot(*((c - column, r - row) * metres))
                for c in range(net.columns)
                for r in range(net.rows)
            )
        )
    space = FiniteSpace.of_points(np.array(places) * metres)
    alpha = float(mechanism.guarantee.terms[0].alpha_per_m)
    bound = max(best_bound(space, alpha), entropic_bound(space, alpha))
    assert 0.05 * max(errors) < bound <= max(errors)
