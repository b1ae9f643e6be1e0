"""Every slack and rounding of linear questions: dropped, something exact here is understated."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from mechanisms.candidate_net import Plane
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term
from mechanisms.mechanism import Target
from mechanisms.metric.linear.answers import PARTS as ANSWER_PARTS
from mechanisms.metric.linear.centroid import EmdLinear
from mechanisms.metric.linear.gaussian import certified_delta
from mechanisms.metric.linear.noise import _coins, _excess, _proposals, k_norm
from mechanisms.metric.linear.queries import (
    MeanDistance,
    MeanLocation,
    RegionFractions,
    root_up,
)
from mechanisms.metric.linear.release import SCALE_STEPS, LinearRelease
from mechanisms.metric.protection_planner import Wish, spent
from mechanisms.records.means import PARTS
from mechanisms.space.grid import EARTH_RADIUS_M
from tests.mechanisms.examples import SEED
from tests.mechanisms.linear import APART, CITY, NEAR, ONE, SOUTH, distances, zones

# --- integer noise ---


def test_no_proposal_falls_faster_than_the_law():
    """Whole multiples of (1, 1) whose length is nearly a whole number: x² − 2y² = 1."""
    proposals, x, y = _proposals((1, 1), Fraction(2**20)), 3, 2
    while y < 10**9:
        x, y = 3 * x + 4 * y, 2 * x + 3 * y
        assert _excess((y, y), (1, 1), Fraction(2**20), proposals)[0] >= 0
    with pytest.raises(ArithmeticError):
        _coins(SeededSource(SEED), [(-1, 5)])


def test_a_scale_with_many_digits_is_drawn():
    drawn = k_norm(SeededSource(SEED), steps=(1, 1), scale=Fraction(10**9 + 7, 3 * 10**7), size=3)
    assert drawn.shape == (3, 2)


# --- what rounding adds ---

QUESTIONS = {"zones-k-norm": (zones, NEAR), "zones": (zones, APART), "distances-k-norm": (distances, SOUTH)}


@pytest.mark.parametrize("question", [*QUESTIONS, "distance"])
def test_offsets_hold_cells_roundings_and_floating_point(question):
    """In parts of an answer. A person's number is off by less than 1 down, by half of one either way, and so
    is the other record's; K-norm noise takes one more (`k_norm`)."""
    about, asked = QUESTIONS.get(question, (distances, ONE))
    made = about(asked)
    d, scale = made.query.dimensions, made._plan.scale
    change = 2 * d if made.uses_laplace else 2 * math.sqrt(d) + 1
    slope = made.query.together if made.uses_laplace else math.sqrt(made.query.together)
    term = made.guarantee.terms[0]
    per_m = ANSWER_PARTS * slope / float(made.query.reach_m)
    cells = per_m * CITY.diameter_m / 2**made.level
    added = float(term.offset_m * term.alpha_per_m * scale)
    assert added > (cells + change) * (1 - 1e-15)
    # Cells are thousands of parts; what is left of them is compared alone.
    left = made._plan.rounding
    assert left > change * (1 + 1e-12)
    assert term.offset_m * Plane(CITY).stretch >= made._plan.cells_m + left / made._plan.per_metre
    farthest = min(d, 2 * made.query.together)
    assert term.cap * scale >= ANSWER_PARTS * (farthest if made.uses_laplace else math.sqrt(farthest)) + left


def test_an_answer_is_rounded_to_the_nearest_part():
    made = zones()
    cells = np.arange(0, 4**made.level, 4**made.level // 997)
    west, south, east, north = CITY.cell_bounds(made.level, cells)
    exact = made.query.values((south + north) / 2, (west + east) / 2) * ANSWER_PARTS
    assert np.abs(made._values(cells) - exact).max() <= 0.5 + 1e-6


def test_areas_two_margins_apart_change_together():
    def rings(gap_m):
        return tuple(
            ((x, 1000.0), (x + 100.0, 1000.0), (x + 100.0, 1100.0), (x, 1100.0))
            for x in (1000.0, 1100.0 + gap_m)
        )

    for gap_m, together in ((1200.0, 2), (1600.0 * (1 - 1e-12), 2), (1600.1, 1)):
        query = RegionFractions(region=CITY, rings=rings(gap_m), margin_m=Fraction(800))
        assert query.together == together


def test_roots_and_half_a_great_circle_are_rounded_up():
    assert all(root_up(count) ** 2 >= count for count in range(1, 200))
    for places in (1, 3):
        query = MeanDistance(places=((0.0, 0.0),) * places)
        with mpmath.workdps(40):
            exact = mpmath.sqrt(places) * mpmath.pi * mpmath.mpf(EARTH_RADIUS_M)
            assert mpmath.mpf(query.diameter.numerator) / query.diameter.denominator >= exact


def release(query, *, delta=0, epsilon=1, radius_m=1000):
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        radius_m=Fraction(radius_m),
    )
    return LinearRelease.calibrate(target, query=query, persons=3)


PLACES = ((30.27, -97.74), (30.4, -97.6), (30.3, -97.5))


@pytest.mark.parametrize("places", [1, 2, 3])
def test_lattice_answers_hold_their_rounding_at_the_radius_and_beyond(places):
    """√d for two roundings, as much again for floating point, and one more for K-norm noise."""
    made = release(MeanDistance(places=PLACES[:places]))
    step, query, term = made.step, made.query, made.guarantee.terms[0]
    rounding = 2 * math.sqrt(places) + 1
    for radius_m in (0.001, 1000, 5000):
        steps = float(query.lipschitz_per_m * Fraction(radius_m) / step) + rounding
        assert term.loss(Fraction(radius_m)) >= Fraction(steps) / SCALE_STEPS * (1 - Fraction(1, 10**15))
    assert term.cap >= (query.diameter / step + Fraction(rounding)) / SCALE_STEPS
    assert made.guarantee.loss(1000) <= 1

    gaussian = release(MeanDistance(places=PLACES[:places]), delta=Fraction(1, 10**6))
    steps = gaussian.query.lipschitz_per_m * 1000 / gaussian.step + Fraction(2 * math.sqrt(places))
    spent_delta = certified_delta(1.0, float(steps) / SCALE_STEPS, deviation=SCALE_STEPS, dimensions=places)
    assert spent_delta <= 1e-6


def test_answers_of_too_many_steps_are_refused():
    with pytest.raises(ParameterError, match="epsilon"):
        release(MeanLocation(region=CITY), epsilon=1000, radius_m=1)


@pytest.mark.parametrize(
    ("epsilon", "radius_m"), [(Fraction(1), 600), (Fraction(1, 10**9), 30_000), (Fraction(10**6), 1)]
)
def test_the_mean_place_holds_its_roundings(epsilon, radius_m):
    """Sums on a lattice that is wider than a part of the region where the noise is wide."""
    made = EmdLinear(
        relation=Relation.REPLACE, epsilon=epsilon, radius_m=Fraction(radius_m), persons=5, region=CITY
    )
    plane, term, scale_um = Plane(CITY), made.guarantee.terms[0], made.scale_um
    lattice_um = Fraction(1, PARTS)
    if made._step_bits:
        lattice_um += Fraction(plane.diameter_um << made._step_bits, PARTS)
    assert (made._step_bits > 0) == (epsilon < 1)
    rounding_um = plane.rounding_um + lattice_um
    for distance_m in (Fraction(1, 1000), Fraction(radius_m)):
        moved_um = distance_m * 10**6 * plane.stretch + rounding_um
        assert term.loss(distance_m) >= min(term.cap, moved_um / scale_um)
    assert term.cap * scale_um >= plane.diameter_um + lattice_um
    assert made.guarantee.loss(radius_m) <= epsilon


def test_a_wish_beyond_the_region_costs_its_whole_diameter():
    rising = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=INFINITY, alpha_per_m=Fraction(1, 100)),))
    wish = Wish(part=Fraction(1), distance_m=Fraction(10**6), epsilon=Fraction(1))
    assert spent(rising, wish, diameter_m=1000.7) >= Fraction(10007, 1000)
