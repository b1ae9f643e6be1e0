"""Noise that is cut to a padding: exact sums, the bound between cut and uncut, the smallest padding."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting.conditioned import (
    charge_of_clamping,
    charge_of_conditioning,
    conditioned,
    conditioned_sum,
    log_truncation,
    smallest_padding,
)
from mechanisms.accounting.hockey_stick import geo_sum_delta, hockey_stick
from mechanisms.accounting.sgdl import sgdl
from mechanisms.check import ParameterError
from mechanisms.reproduction.athanasiou_2025 import printed_constants

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "shuffle.json").read_text())


def exact_sum(shape, epsilon, padding, persons, radius=600):
    law = conditioned(sgdl(shape, epsilon, radius=padding + 10), padding)
    return conditioned_sum(law, persons=persons, radius=radius)


def convolved(laws):
    total = np.ones(1)
    for law in laws:
        total = np.convolve(total, law)
    return total


def clamped_law(shape, epsilon, padding, domain, value):
    """The law of one person's clamped report, 0 … domain + 2c."""
    reach = domain + 2 * padding + 400
    one_sided = np.exp(sgdl(shape, epsilon, radius=reach).log_probabilities)
    sent = np.clip(np.arange(-reach, reach + 1) + value + padding, 0, domain + 2 * padding)
    return np.bincount(sent, np.concatenate([one_sided[:0:-1], one_sided]), domain + 2 * padding + 1)


def excess(one, other, loss):
    return float(np.maximum(0.0, one - math.exp(loss) * other).sum())


@pytest.mark.parametrize(("epsilon", "persons", "delta", "padding"), ORACLES["padding"])
def test_it_finds_the_smallest_padding(epsilon, persons, delta, padding):
    law = {"persons": persons, "beta": 1 / persons, "epsilon": epsilon}
    assert smallest_padding(**law, log_probability=math.log(delta)) == padding
    assert (
        log_truncation(**law, padding=padding) <= math.log(delta) < log_truncation(**law, padding=padding - 1)
    )


def test_the_smallest_paddings_are_those_of_the_reference():
    assert [row[3] for row in ORACLES["padding"]] == [474, 39, 78]


def test_the_printed_paddings_are_far_too_small():
    for (epsilon, persons, delta, exact), expected in zip(ORACLES["padding"], (1, 6, 3), strict=True):
        found = printed_constants.sgdl_padding(epsilon, persons, delta)
        assert found == expected < exact / 5
    some = log_truncation(persons=1000, beta=1 / 1000, epsilon=0.01767766953, padding=1)
    assert math.exp(some) == pytest.approx(0.9978, abs=1e-4)


def test_the_printed_padding_of_geometric_noise_is_one_too_large():
    law = {"persons": 50, "beta": 1, "epsilon": 0.45557}
    exact = smallest_padding(**law, log_probability=math.log(5e-5))
    assert printed_constants.geo_padding(0.45557, 50, 1e-4) == exact + 1


@pytest.mark.parametrize(
    ("shape", "epsilon", "padding", "persons"), [(1, 0.4, 9, 7), (0.25, 0.2, 15, 4), (1, 1.0, 3, 13)]
)
def test_sums_are_exact(shape, epsilon, padding, persons):
    one = np.exp(conditioned(sgdl(shape, epsilon, radius=50), padding).two_sided())
    exact = convolved([one] * persons)
    found = exact_sum(shape, epsilon, padding, persons)
    assert found.mass_beyond < 1e-250
    assert np.exp(found.two_sided()) == pytest.approx(exact, rel=1e-12)


def test_what_a_window_cuts_off_is_charged():
    whole, cut = exact_sum(1, 0.3, 20, 30), exact_sum(1, 0.3, 20, 30, radius=150)
    missing = 2 * np.exp(whole.log_probabilities[151:]).sum()
    assert missing <= cut.mass_beyond < 1
    assert (cut.log_probabilities <= whole.log_probabilities[:151] + 1e-12).all()
    assert 1 - np.exp(cut.two_sided()).sum() <= cut.mass_beyond


@pytest.mark.parametrize(
    ("shape", "epsilon", "padding", "persons"),
    [(1, 0.6, 20, 50), (1, 0.6, 30, 50), (1 / 50, 0.2, 60, 50), (1, 2.0, 5, 200)],
)
@pytest.mark.parametrize("distance", [1, 4, 10])
def test_both_sides_of_the_bound_hold(shape, epsilon, padding, persons, distance):
    loss = 0.2 * distance
    cut = log_truncation(persons=persons, beta=shape, epsilon=epsilon, padding=padding)
    uncut = hockey_stick(sgdl(shape * persons, epsilon, radius=900), distance=distance, loss=loss)
    found = hockey_stick(exact_sum(shape, epsilon, padding, persons), distance=distance, loss=loss)
    factor, addend = charge_of_conditioning(log_truncation=cut, loss=loss)
    assert found <= (uncut * factor + addend) * (1 + 1e-8)
    assert found >= (uncut - math.exp(cut)) * factor * (1 - 1e-8)


@pytest.mark.parametrize(("padding", "distance"), [(4, 3), (8, 3), (8, 8), (14, 8)])
@pytest.mark.parametrize("value", [0, 6])
def test_the_bound_for_clamped_noise_holds(padding, distance, value):
    """Four persons, values 0 … 14, the others all at one place; both directions."""
    persons, domain, shape, epsilon, loss = 4, 14, 1, 0.5, 0.3 * distance
    others = [clamped_law(shape, epsilon, padding, domain, value)] * (persons - 1)
    one, other = (
        convolved([*others, clamped_law(shape, epsilon, padding, domain, x)])
        for x in (value, value + distance)
    )
    uncut = hockey_stick(sgdl(shape * persons, epsilon, radius=400), distance=distance, loss=loss)
    cut = log_truncation(persons=persons, beta=shape, epsilon=epsilon, padding=padding)
    factor, addend = charge_of_clamping(log_truncation=cut, loss=loss)
    assert max(excess(one, other, loss), excess(other, one, loss)) <= uncut * factor + addend


def test_an_exact_padding_does_not_make_the_papers_step_sound():
    """Proposition 3 with c = 39 (n = 50, ε = 0.2, δ = 1e-4): what is conditioned on is not private."""
    law = exact_sum(1 / 50, 0.2, 39, 50, radius=900)
    deltas = [hockey_stick(law, distance=d, loss=0.2 * d) for d in (6, 100)]
    assert deltas == pytest.approx([1.01e-4, 0.68], rel=0.01)
    wide = exact_sum(1 / 50, 0.2, 130, 50, radius=1300)
    assert hockey_stick(wide, distance=100, loss=20.0) <= 1.1e-4


def test_clamped_geometric_noise_at_the_papers_setting_exceeds_its_delta():
    """n = 50, ε = 0.2, δ = 1e-4, k = 1000, ε_geo of Theorem 4.1: everybody at 0, one person at 0 or 1000.
    All others can then only send noise above −c."""
    epsilon_geo, padding = 0.45557, printed_constants.geo_padding(0.45557, 50, 1e-4)
    exact = geo_sum_delta(persons=50, epsilon_geo=epsilon_geo, radius=233, epsilon=0.2)
    cut = log_truncation(persons=50, beta=1, epsilon=epsilon_geo, padding=padding)
    assert exact - math.exp(cut) > 0.2  # within total variation τ of the uncut sum


def test_exact_sums_that_would_take_too_long_are_refused():
    with pytest.raises(ParameterError, match="persons"):
        conditioned_sum(sgdl(1, 0.01, radius=20_000), persons=10**6, radius=200_000)
    with pytest.raises(ParameterError, match="epsilon"):
        smallest_padding(persons=10, beta=0.1, epsilon=1e-6, log_probability=-20)
