"""Table 3's setting on addresses around Austin: 100 m squares, r = 600 m, n = 1000, ε = 0.15, δ = 1e-4.

Power: with 10,000 runs on both sides the ratio of two mean lengths has a standard error of 1 %, so that equal
laws pass the two one-sided tests at 5 % with probability 0.99; with 4,000 runs it is 1.2 %.
"""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.reproduction.athanasiou_2025.austin import DELTA, AustinPersons, Unsnapped, positions, some_of
from mechanisms.reproduction.athanasiou_2025.table_3 import (
    MANY_RUNS,
    RUNS,
    honest,
    ratio_interval,
    standard_error,
    unsnapped,
)
from mechanisms.shuffle.centroid import GeoShuffle, RrShuffle, SgdlShuffle
from mechanisms.shuffle.plane_noise import noise_length

PERSONS, EPSILON = 1000, Fraction("0.15")
ACCOUNT = Unsnapped(persons=PERSONS, epsilon=float(EPSILON))


@pytest.fixture(scope="module")
def crowd():
    path = Path(os.environ.get("HAZEMAP_TEST_DATA", "")) / "austin_addresses_sparse.csv.gz"
    if not path.is_file():
        pytest.skip("HAZEMAP_TEST_DATA has no austin_addresses_sparse.csv.gz")
    return AustinPersons(persons=PERSONS, epsilon=EPSILON, places=some_of(positions(path), PERSONS, 0))


def test_made_up_places_lie_in_the_rectangle():
    places = positions(None)
    assert places.min() >= 0
    assert places.max() <= 2**32


@pytest.mark.long
def test_sgdl_shuffle_is_as_good_as_the_central_optimum(crowd):
    """Two one-sided tests, ±5 %; with snapping accounted for, and ignored."""
    epsilon_axis = crowd.mechanism(SgdlShuffle).epsilon_axis.limit_denominator(2**30)
    ours = crowd.released(SgdlShuffle, MANY_RUNS, 1)
    central = crowd.central(epsilon_axis, MANY_RUNS, 2)
    plain = unsnapped(ACCOUNT, Fraction(1, PERSONS), ACCOUNT.epsilon_axis, MANY_RUNS, 3)
    exact = crowd.central(Fraction(ACCOUNT.epsilon_axis).limit_denominator(2**30), MANY_RUNS, 4)
    for one, other in ((ours, central), (plain, exact)):
        _, low, high = ratio_interval(one, other)
        assert 0.95 < low < high < 1.05
    # Snapping costs a quarter more noise; an equivalence test of these two must fail.
    assert ratio_interval(ours, exact)[1] > 1.05


@pytest.mark.long
def test_both_axes_together_need_at_most_seven_tenths_of_the_noise(crowd):
    both = unsnapped(ACCOUNT, Fraction(1), ACCOUNT.geo_two_axes(), RUNS, 5)
    one_by_one = unsnapped(ACCOUNT, Fraction(1), ACCOUNT.geo_per_axis(), RUNS, 6)
    assert both.mean() / one_by_one.mean() <= 0.70
    expected = honest(ACCOUNT)
    for lengths, name in ((both, "geo_honest_two_axes"), (one_by_one, "geo_honest_per_axis")):
        assert abs(lengths.mean() - expected[name]) < 4 * standard_error(lengths)
    assert expected["geo_honest_two_axes"] <= 0.70 * expected["geo_honest_per_axis"]
    assert expected["geo_honest_two_axes"] < expected["rr_honest"] < expected["geo_honest_per_axis"]


def test_it_is_so_with_snapping_too(crowd):
    """By the exact laws."""
    mechanism = crowd.mechanism(GeoShuffle)
    axis = calibrate_geo_sum(
        persons=PERSONS,
        epsilon=float(mechanism.epsilon_axis),
        delta=float(DELTA) / 2,
        radius=mechanism.farthest,
    )
    lengths = [noise_length(PERSONS, float(e))[0] for e in (mechanism.epsilon_geo, axis)]
    assert lengths[0] <= 0.70 * lengths[1]


@pytest.mark.long
def test_flipped_bits_are_as_far_off_as_they_say(crowd):
    runs = crowd.released(RrShuffle, 400, 7)
    expected = crowd.mechanism(RrShuffle).expected_error().expected_m
    assert abs(runs.mean() - expected) < 4 * standard_error(runs) + 0.2
    assert np.isfinite(runs).all()
