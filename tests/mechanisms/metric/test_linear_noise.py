"""Noise of emd-linear: the exact laws, and what discrete Gaussians certify."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.linear.gaussian import certified_delta, smallest_deviation, spent_delta
from mechanisms.metric.linear.noise import discrete_gaussian, k_norm, norm
from tests.mechanisms.examples import SEED

DRAWS = 15_000


def plane_law(steps, scale, reach=40):
    places = list(product(range(-reach, reach + 1), repeat=len(steps)))
    weights = np.array([math.exp(-norm(place, steps) / scale) for place in places])
    return dict(zip(places, weights / weights.sum(), strict=True))


def fits(drawn, law):
    """p-value of the draws under the law; places expected less than 20 times are counted together."""
    counts = dict.fromkeys(law, 0)
    for place in map(tuple, drawn.tolist()):
        counts[place] = counts.get(place, 0) + 1
    often = [place for place, share in law.items() if share * len(drawn) >= 20]
    seen = [counts[place] for place in often]
    expected = [law[place] * len(drawn) for place in often]
    seen.append(len(drawn) - sum(seen))
    expected.append(len(drawn) - sum(expected))
    return chisquare(seen, expected).pvalue


# 15,000 draws: a scale 15 % wrong is rejected at 1e-6, as the loop sees.
@pytest.mark.parametrize(
    ("steps", "scale"),
    [
        pytest.param((1,), 3, marks=pytest.mark.long),
        ((2, 3), 6),
        pytest.param((1, 1, 1), 2, marks=pytest.mark.long),
    ],
)
def test_k_norm_noise_has_its_law_and_no_other_scale(steps, scale):
    drawn = k_norm(SeededSource(SEED), steps=steps, scale=Fraction(scale), size=DRAWS)
    reach = 40 if len(steps) < 3 else 12
    assert fits(drawn, plane_law(steps, scale, reach)) > 1e-6
    for wrong in (0.85, 1.15):
        assert fits(drawn, plane_law(steps, scale * wrong, reach)) < 1e-6


def test_the_norm_is_within_one_of_the_length():
    for offset in ((0, 0), (1, 0), (3, 4), (-5, 7), (10**9, 3)):
        assert 0 <= norm(offset, (2, 3)) - math.hypot(2 * offset[0], 3 * offset[1]) < 1 + 1e-6


def test_shifts_of_k_norm_noise_cost_what_they_should():
    law = plane_law((2, 3), 6)
    for move in ((1, 0), (0, 1), (2, -1)):
        moved = [
            (share, law.get((x + move[0], y + move[1])))
            for (x, y), share in law.items()
            if max(abs(x), abs(y)) < 30
        ]
        loss = max(abs(math.log(one / other)) for one, other in moved)
        length = math.hypot(2 * move[0], 3 * move[1])
        assert 0.8 * length / 6 <= loss <= (length + 1) / 6


def test_k_norm_refuses_what_it_cannot_carry():
    with pytest.raises(ParameterError, match="scale"):
        k_norm(SeededSource(SEED), steps=(1, 1), scale=Fraction(2**55), size=1)
    with pytest.raises(ParameterError, match="dimensions"):
        k_norm(SeededSource(SEED), steps=(1,) * 13, scale=Fraction(1), size=1)


def test_discrete_gaussian_noise_has_its_law_and_no_other_width():
    drawn = discrete_gaussian(SeededSource(SEED), deviation=4, size=DRAWS)[:, np.newaxis]

    def law(deviation):
        places = range(-60, 61)
        weights = np.array([math.exp(-(z**2) / (2 * deviation**2)) for z in places])
        return {(z,): share for z, share in zip(places, weights / weights.sum(), strict=True)}

    assert fits(drawn, law(4)) > 1e-6
    assert fits(drawn, law(3.4)) < 1e-6
    assert fits(drawn, law(4.6)) < 1e-6


def exact_delta(epsilon, shift, deviation):
    """The hockey stick of discrete Gaussians on a lattice of as many dimensions as the shift has."""
    reach = range(-10 * deviation, 10 * deviation + 1)
    places = np.array(list(product(reach, repeat=len(shift))))
    one = np.exp(-(places**2).sum(axis=1) / (2 * deviation**2))
    other = np.exp(-((places - np.array(shift)) ** 2).sum(axis=1) / (2 * deviation**2))
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum() / one.sum())


@pytest.mark.parametrize(
    ("deviation", "shift", "epsilon"), [(40, (11,), 0.5), (40, (40,), 2), (300, (97,), 1), (12, (4, 3), 1)]
)
def test_the_certified_delta_is_above_the_exact_one_and_near_it(deviation, shift, epsilon):
    ratio, exact = math.hypot(*shift) / deviation, exact_delta(epsilon, shift, deviation)
    certified = certified_delta(epsilon, ratio, deviation=deviation, dimensions=len(shift))
    assert exact <= certified
    fine = certified_delta(epsilon, ratio, deviation=2**20, dimensions=len(shift))
    assert fine == pytest.approx(spent_delta(epsilon, ratio), rel=1e-3)
    if deviation == 300:
        assert certified == pytest.approx(exact, rel=0.2)


def test_the_smallest_deviation_is_the_analytic_one():
    # Balle, Wang 2018: σ for (ε, δ) by bisection on the same formula; the classical width is 4.62 here.
    found = smallest_deviation(1.0, 1e-5, dimensions=2, steps=2**20)
    assert found == pytest.approx(3.730632, rel=1e-5)
    assert spent_delta(1.0, 1 / found) == pytest.approx(1e-5, rel=1e-3)
    assert found < math.sqrt(2 * math.log(1.25 / 1e-5))
    # What the paper prints, without the factor 2 under the root, does not keep its promise.
    assert spent_delta(1.0, 1 / math.sqrt(1.25 * math.log(1 / 1e-5))) < 1e-5
    assert spent_delta(8.0, 8 / math.sqrt(1.25 * math.log(1 / 1e-12))) > 1e-12
