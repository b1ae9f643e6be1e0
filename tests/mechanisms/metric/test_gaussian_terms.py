"""Gaussian noise on a lattice: each term of the certified δ is one that the half-spaces need."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.metric.linear.gaussian import certified_delta, smallest_deviation
from mechanisms.metric.linear.queries import MeanDistance
from mechanisms.metric.linear.release import LinearRelease
from mechanisms.space.grid import EARTH_RADIUS_M

REACH = 45


def proved_delta(epsilon, ratio, deviation, dimensions):
    """What the module's text says of two half-spaces, before any rearranging."""
    with mpmath.workdps(60):
        epsilon, ratio = mpmath.mpf(epsilon), mpmath.mpf(ratio)
        moved = mpmath.sqrt(dimensions) / (2 * deviation)
        first = mpmath.ncdf(ratio / 2 - epsilon / ratio + moved)
        second = mpmath.ncdf(-ratio / 2 - epsilon / ratio - moved)
        more, less = (mpmath.mpf(part) / (24 * deviation**2) for part in (dimensions, REACH**2))
        return mpmath.exp(more) * first - mpmath.exp(epsilon - less) * second


# In turn: what a fine lattice moves; the likely cubes; what is lost, to the last part; losses beyond e^700.
CASES = [(1.0, 0.3, 2**20, 2), (0.5, 6.0, 40, 9), (4.0, 0.8, 10_000, 9), (710.0, 20.0, 20_000, 1)]


@pytest.mark.parametrize(("epsilon", "ratio", "deviation", "dimensions"), CASES)
def test_a_certified_delta_is_the_proved_one_rounded_up(epsilon, ratio, deviation, dimensions):
    proved = proved_delta(epsilon, ratio, deviation, dimensions)
    found = certified_delta(epsilon, ratio, deviation=deviation, dimensions=dimensions)
    assert proved <= found <= 1.02 * proved
    assert found < 1


def test_a_certified_delta_is_never_nothing():
    """e^-2,000,000 is no double; what is claimed stays above it."""
    assert certified_delta(2000.0, 1.0, deviation=10_000, dimensions=1) > 0


def line_delta(epsilon, ratio, deviation):
    """Exact δ of discrete Gaussian noise on a line, for a shift of so many deviations."""
    shift, reach = round(ratio * deviation), 12 * deviation
    start = math.floor(epsilon * deviation**2 / shift - shift / 2) + 1
    law = [math.exp(-((z / deviation) ** 2) / 2) for z in range(reach)]
    whole = 2 * math.fsum(law) - 1
    return (math.fsum(law[start:]) - math.exp(epsilon) * math.fsum(law[start + shift :])) / whole


@pytest.mark.parametrize("ratio", [0.5, 0.8, 1.5])
def test_a_certified_delta_is_near_the_lattices_own(ratio):
    exact = line_delta(2.0, ratio, 1000)
    assert exact <= certified_delta(2.0, ratio, deviation=1000, dimensions=1) <= 1.1 * exact


def lattice_delta(epsilon, shift, deviation):
    reach = range(-14 * deviation, 14 * deviation + 1)
    places = np.array(list(product(reach, repeat=len(shift))))
    one = np.exp(-(places**2).sum(axis=1) / (2 * deviation**2))
    other = np.exp(-((places - np.array(shift)) ** 2).sum(axis=1) / (2 * deviation**2))
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum() / one.sum())


@pytest.mark.parametrize("deviation", [1, 2, 3, 5])
def test_certified_deltas_are_above_exact_ones_on_coarse_lattices(deviation):
    shifts = [(1,), (2,), (5,), (1, 1), (2, 1)]
    for shift, epsilon in product(shifts, (0.05, 0.5, 1.5, 4.0)):
        exact = lattice_delta(epsilon, shift, deviation)
        ratio = math.hypot(*shift) / deviation
        assert exact <= certified_delta(epsilon, ratio, deviation=deviation, dimensions=len(shift)) * (
            1 + 1e-9
        )


@pytest.mark.parametrize(("steps", "dimensions"), [(200, 1), (200, 200), (2**20, 2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 0.9), (0.01, 1e-3), (1.0, 1e-5), (8.0, 1e-10)])
def test_the_smallest_deviation_keeps_its_delta_for_every_shorter_shift(steps, dimensions, epsilon, delta):
    found = smallest_deviation(epsilon, delta, dimensions=dimensions, steps=steps)
    spent = [
        certified_delta(x * epsilon, x / found, deviation=steps, dimensions=dimensions)
        for x in np.geomspace(1e-5, 1, 60).tolist()
    ]
    assert all(earlier <= later * (1 + 1e-7) for earlier, later in pairwise(spent))
    assert spent[-1] <= min(delta, 0.5)


def test_lattices_too_coarse_for_that_are_refused():
    for steps, dimensions in ((199, 1), (1000, 1001)):
        with pytest.raises(ParameterError):
            smallest_deviation(1.0, 1e-5, dimensions=dimensions, steps=steps)


def test_a_gaussian_claim_reaches_its_epsilon_at_the_radius_and_no_nearer():
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        radius_m=Fraction(1000),
    )
    query = MeanDistance(places=((30.27, -97.74),))
    term = LinearRelease.calibrate(target, query=query, persons=1).guarantee.terms[0]
    assert term.offset_m > 0
    assert term.alpha_per_m * (1000 + term.offset_m) == term.cap == 1


def test_no_place_is_farther_than_the_diameter_of_a_distance_says():
    """π is above its float; what floating point adds to a distance is far more than that."""
    with mpmath.workdps(40):
        half_round = mpmath.pi * EARTH_RADIUS_M * (1 + mpmath.mpf(10) ** -12)
        diameter = MeanDistance(places=((30.27, -97.74),)).diameter
        assert mpmath.mpf(diameter.numerator) / diameter.denominator > half_round
