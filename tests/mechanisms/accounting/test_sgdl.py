"""The law of summed geometric noise and its hockey-stick sums, against 60 digits (data/make_sgdl.py)."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting.hockey_stick import (
    calibrate_geo_sum,
    geo_sum_delta,
    hockey_stick,
    largest_hockey_stick,
)
from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "sgdl.json").read_text())
EXACT_EPSILON_GEO = {  # n = 50, ε = 0.2, δ = 5e-5: by radius
    1: 0.72452537,
    2: 0.6825142,
    5: 0.63058147,
    10: 0.59080534,
    100: 0.42910004,
    500: 0.31470392,
    1000: 0.27850605,
}


@pytest.mark.parametrize("row", ORACLES["laws"], ids=lambda row: f"{row['beta']}-{row['eps']}")
def test_its_law_has_the_closed_forms_values(row):
    law = sgdl(float(Fraction(row["beta"])), float(row["eps"]), radius=4000)
    found = np.exp(law.log_probabilities[row["at"]])
    assert found == pytest.approx([float(value) for value in row["pmf"]], rel=1e-11)


@pytest.mark.parametrize("beta", [1 / 50, 1, 3.7, 400])
def test_its_law_sums_to_one_and_bounds_what_is_missing(beta):
    wide, narrow = sgdl(beta, 0.3, radius=2000), sgdl(beta, 0.3, radius=60)
    mass = 2 * np.exp(wide.log_probabilities).sum() - math.exp(wide.log_probabilities[0])
    assert mass == pytest.approx(1, abs=1e-12)
    missing = 2 * np.exp(wide.log_probabilities[61:]).sum()
    assert missing <= narrow.mass_beyond * (1 + 1e-9)
    assert narrow.mass_beyond <= 3 * missing / (1 - missing)


def test_it_is_the_discrete_laplace_law_for_one_person():
    law = sgdl(1, 0.7, radius=50)
    exact = np.log(math.tanh(0.35)) - 0.7 * np.arange(51)
    assert law.log_probabilities == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("row", ORACLES["sums"], ids=lambda row: f"{row['n']}-{row['eps_geo']}")
def test_its_delta_is_exact_and_on_the_safe_side(row):
    loss = float(row["eps"])
    for distance, expected in zip(row["d"], map(float, row["delta"]), strict=True):
        law = sgdl(row["n"], float(row["eps_geo"]), radius=3000 + distance)
        found = hockey_stick(law, distance=distance, loss=loss * distance)
        assert expected <= found <= expected * (1 + 1e-7)


@pytest.mark.parametrize(("radius", "expected"), EXACT_EPSILON_GEO.items())
def test_it_calibrates_the_sum_of_geometric_noises(radius, expected):
    found = calibrate_geo_sum(persons=50, epsilon=0.2, delta=5e-5, radius=radius)
    assert found == pytest.approx(expected, rel=2e-8)
    assert geo_sum_delta(persons=50, epsilon_geo=found, radius=radius, epsilon=0.2) <= 5e-5
    assert geo_sum_delta(persons=50, epsilon_geo=found * (1 + 1e-7), radius=radius, epsilon=0.2) > 5e-5


def test_the_printed_calibration_violates_its_delta():
    """Theorem 4.1 takes distance 1 for the worst case; its value for n = 50, ε = 0.2 fails from 72 on."""
    printed = 0.45557
    law = sgdl(50, printed, radius=4000)
    deltas = [hockey_stick(law, distance=d, loss=0.2 * d) for d in (1, 71, 72, 233)]
    assert deltas[1] <= 5e-5 < deltas[2]
    assert deltas[3] == pytest.approx(0.21, abs=0.005)


@pytest.mark.parametrize("beta", [1, 2.5, 50])
def test_the_largest_distance_decides_for_log_concave_noise(beta):
    law = sgdl(beta, 0.5, radius=1500)
    deltas = [hockey_stick(law, distance=d, loss=0.2 * d) for d in range(1, 120)]
    assert (np.diff(deltas) >= 0).all()
    assert largest_hockey_stick(law, radius=119, epsilon=0.2, log_concave=True) == deltas[-1]
    assert largest_hockey_stick(law, radius=119, epsilon=0.2, log_concave=False) == deltas[-1]


def test_a_table_that_is_too_short_is_refused_and_its_rest_is_charged():
    law = sgdl(50, 0.5, radius=100)
    with pytest.raises(ValueError, match="distance is 101"):
        hockey_stick(law, distance=101, loss=1.0)
    short = hockey_stick(sgdl(50, 0.5, radius=30), distance=10, loss=2.0)
    assert short >= hockey_stick(law, distance=10, loss=2.0)


def test_one_person_needs_what_the_distance_alone_asks():
    found = calibrate_geo_sum(persons=1, epsilon=0.1, delta=1e-9, radius=10)
    assert found == pytest.approx(0.1, rel=1e-4)
    assert found >= 0.1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"persons": 0}, "persons"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"radius": 0}, "radius"),
    ],
)
def test_it_refuses_what_is_out_of_range(change, name):
    target = {"persons": 50, "epsilon": 0.2, "delta": 1e-5, "radius": 10} | change
    with pytest.raises(ValueError, match=name):
        calibrate_geo_sum(**target)


def test_a_law_is_a_table_of_logarithms():
    with pytest.raises(ValueError, match="logarithms"):
        SymmetricLaw(log_probabilities=np.array([0.5]), mass_beyond=0.0)
    with pytest.raises(ValueError, match="mass_beyond"):
        SymmetricLaw(log_probabilities=np.array([-1.0]), mass_beyond=1.5)
