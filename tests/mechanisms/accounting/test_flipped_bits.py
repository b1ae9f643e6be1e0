"""Randomised response on shuffled bits: its law, its supremum over all other bits, its calibration."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from mechanisms.accounting.flipped_bits import flipped_bits
from mechanisms.accounting.randomised_response import (
    calibrate_flip,
    flip_without_ones,
    largest_ones_delta,
    ones_delta,
)
from mechanisms.check import ParameterError
from mechanisms.reproduction.athanasiou_2025 import printed_constants

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "shuffle.json").read_text())


def convolved(bits, ones, flip):
    """The law as a direct sum of products."""
    return np.convolve(
        binom.pmf(range(ones + 1), ones, 1 - flip), binom.pmf(range(bits - ones + 1), bits - ones, flip)
    )


def both_directions(bits, ones, flip, distance, loss):
    one, other = convolved(bits, ones, flip), convolved(bits, ones + distance, flip)
    return [np.maximum(0, p - math.exp(loss) * q).sum() for p, q in ((one, other), (other, one))]


@pytest.mark.parametrize("flip", [0.001, 0.05, 0.3, 0.5])
@pytest.mark.parametrize(
    ("bits", "ones"), [(1, 0), (1, 1), (50, 0), (50, 17), (50, 50), (900, 1), (900, 450), (900, 899)]
)
def test_its_law_is_that_of_two_binomials(bits, ones, flip):
    law, exact = flipped_bits(bits, ones, flip), convolved(bits, ones, flip)
    within = np.log(np.maximum(exact[law.first : law.first + law.log_probabilities.size], 1e-300))
    likely = within > -200
    assert law.log_probabilities[likely] == pytest.approx(within[likely], abs=1e-10)
    assert exact.sum() - np.exp(within).sum() <= law.mass_beyond + 1e-13


def one_by_one(first, own, products):
    """The recurrence as it is written."""
    found = [first]
    for free, product in zip(own.tolist(), products.tolist(), strict=True):
        found.append(free + product / found[-1])
    return np.array(found)


@pytest.mark.parametrize("flip", [2e-6, 0.01, 0.2, 0.4999])
@pytest.mark.parametrize(
    ("bits", "ones"), [(4_000_000, 0), (4_000_000, 1_999_990), (4_000_000, 4_000_000), (30_000, 11)]
)
def test_compiled_elimination_takes_the_steps_of_the_recurrence(monkeypatch, bits, ones, flip):
    """One by one every step adds a few units in the last place, and so does the elimination."""
    flipped_bits.cache_clear()
    compiled = flipped_bits(bits, ones, flip)
    flipped_bits.cache_clear()
    monkeypatch.setattr("mechanisms.accounting.flipped_bits._pivots", one_by_one)
    plain = flipped_bits(bits, ones, flip)
    assert (compiled.first, compiled.mass_beyond) == (plain.first, plain.mass_beyond)
    assert np.abs(compiled.log_probabilities - plain.log_probabilities).max() < 2e-11


@pytest.mark.parametrize(("ones", "distance"), [(0, 1), (40, 3), (97, 3), (0, 20)])
def test_one_direction_at_one_end_is_the_other_at_the_other(ones, distance):
    there = both_directions(100, ones, 0.1, distance, 0.3 * distance)
    back = both_directions(100, 100 - ones - distance, 0.1, distance, 0.3 * distance)
    assert there == pytest.approx(back[::-1], rel=1e-9)
    found = ones_delta(bits=100, ones=ones, flip=0.1, distance=distance, loss=0.3 * distance)
    assert there[0] <= found <= there[0] * (1 + 1e-7)


@pytest.mark.parametrize(
    ("bits", "radius", "flip", "epsilon"),
    [(60, 7, 0.2, 0.3), (40, 12, 0.1, 0.2), (100, 3, 0.05, 0.8), (30, 30, 0.3, 0.1), (25, 24, 0.4, 0.05)],
)
def test_the_supremum_is_above_every_bit_every_distance_and_both_directions(bits, radius, flip, epsilon):
    largest = max(
        max(both_directions(bits, ones, flip, distance, epsilon * distance))
        for distance in range(1, radius + 1)
        for ones in range(bits - distance + 1)
    )
    found = largest_ones_delta(bits=bits, flip=flip, radius=radius, epsilon=epsilon)
    assert largest <= found <= largest * (1 + 1e-7)


@pytest.mark.parametrize(
    ("bits", "radius", "epsilon", "delta"),
    [(80, 6, 0.4, 1e-3), (60, 11, 0.1, 0.02), (48, 1, 1.0, 1e-4), (40, 12, 0.2, 1e-3), (70, 5, 0.9, 1e-6)],
)
def test_what_calibration_finds_holds_for_every_bit_every_distance_and_both_directions(
    bits, radius, epsilon, delta
):
    """Against direct sums over all that it decides by intervals."""
    flip = calibrate_flip(bits=bits, epsilon=epsilon, delta=delta, radius=radius)
    largest, with_less = (
        max(
            max(both_directions(bits, ones, chance, distance, epsilon * distance))
            for distance in range(1, radius + 1)
            for ones in range(bits - distance + 1)
        )
        for chance in (flip, flip * 0.9)
    )
    assert largest <= delta < with_less


def test_other_peoples_bits_matter():
    """200 other bits, 5 % flipped, ε = 1: δ runs over more than four orders of magnitude."""
    ends = [ones_delta(bits=201, ones=ones, flip=0.05, distance=1, loss=1.0) for ones in (0, 200)]
    assert ends == pytest.approx([1.45e-3, 3.5e-8], rel=0.01)
    assert largest_ones_delta(bits=201, flip=0.05, radius=1, epsilon=1.0) >= ends[0]


@pytest.mark.parametrize(
    ("persons", "domain", "epsilon", "radius"),
    [(50, 20, 0.2, 5), (300, 1000, 0.05, 6), (20, 1000, 0.1, 500)],
)
def test_calibration_is_certified_and_nearly_the_least(persons, domain, epsilon, radius):
    target = {"bits": persons * domain, "epsilon": epsilon, "radius": radius}
    flip = calibrate_flip(**target, delta=5e-5)
    assert largest_ones_delta(**target, flip=flip, target=5e-5) <= 5e-5
    least = flip_without_ones(**target, delta=5e-5)
    assert least <= flip <= least * 1.07
    assert largest_ones_delta(**target, flip=least * 0.98, target=5e-5) > 5e-5


@pytest.mark.parametrize("row", ORACLES["table3"]["rows"], ids=lambda row: row[0])
def test_its_least_flips_give_the_honest_error_on_the_map(row):
    persons, epsilon, metres = row[:3]
    flip = flip_without_ones(bits=1000 * persons, epsilon=epsilon / (6 * math.sqrt(2)), delta=5e-5, radius=6)
    variance = 1000 * persons * flip * (1 - flip) / (1 - 2 * flip) ** 2
    assert 100 / persons * math.sqrt(math.pi / 2 * variance) == pytest.approx(metres, rel=1e-8)


@pytest.mark.parametrize("row", ORACLES["table2"]["rows"], ids=lambda row: row[0])
def test_the_printed_number_of_random_bits_has_the_error_of_table_2(row):
    persons, epsilon, bits = row[0], row[1], 1000 * row[0]
    random_bits = printed_constants.rr_random_bits(epsilon, 1e-4)
    law = flipped_bits(bits, bits // 2, random_bits / bits / 2)
    steps = law.first + np.arange(law.log_probabilities.size) - bits // 2
    mean = float(np.exp(law.log_probabilities) @ np.abs(steps)) * bits / (bits - random_bits)
    assert mean / persons == pytest.approx(row[3], rel=1e-8)


def test_the_printed_bound_fails_for_far_moves_and_is_pessimistic_for_near_ones():
    """Theorem 3.1 at n = 50, k = 1000, ε = 0.5, δ = 1e-4: violated from about 410 steps on; at one step
    many times more flips than are needed."""
    flip = printed_constants.rr_random_bits(0.5, 1e-4) / 50_000 / 2
    deltas = [
        ones_delta(bits=50_000, ones=0, flip=flip, distance=d, loss=0.5 * d) for d in (1, 395, 410, 600)
    ]
    assert deltas[0] < deltas[1] <= 1e-4 < deltas[2] < deltas[3]
    needed = flip_without_ones(bits=50_000, epsilon=0.5, delta=1e-4, radius=1)
    assert 10 < flip / needed < 25


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": -1.0}, "delta"),
        ({"radius": 0}, "radius"),
        ({"bits": 3}, "bits"),
    ],
)
def test_it_refuses_what_is_out_of_range(change, name):
    with pytest.raises(ValueError, match=name):
        calibrate_flip(**({"bits": 100, "epsilon": 0.1, "delta": 1e-3, "radius": 5} | change))


def test_it_says_when_delta_is_below_what_tables_leave_out():
    with pytest.raises(ParameterError, match="delta"):
        calibrate_flip(bits=100_000, epsilon=0.01, delta=1e-40, radius=2)
