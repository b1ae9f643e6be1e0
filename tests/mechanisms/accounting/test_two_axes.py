"""Noise on two axes, moved in any direction of the lattice."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting.hockey_stick import calibrate_geo_sum, hockey_stick
from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.two_axes import disk, largest_two_axes_delta, snapped_disk, two_axes_delta
from mechanisms.shuffle.plane_noise import calibrate_two_axes

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "shuffle.json").read_text())


@pytest.mark.parametrize("shift", [(1, 0), (1, 1), (5, 0), (4, 3), (6, 1)])
@pytest.mark.parametrize(("shape", "epsilon"), [(1, 0.4), (6, 0.9)])
def test_it_is_the_sum_over_the_plane(shift, shape, epsilon):
    law = sgdl(shape, epsilon, radius=150)
    table = np.exp(law.two_sided())
    here = np.outer(table[shift[0] :], table[shift[1] :])
    moved = np.outer(table[: table.size - shift[0]], table[: table.size - shift[1]])
    loss = 0.3 * math.hypot(*shift)
    exact = np.maximum(0.0, moved - math.exp(loss) * here).sum()
    found = two_axes_delta(law, shift=shift, loss=loss)
    assert exact <= found * (1 + 1e-12)
    assert found <= exact * (1 + 1e-8) + 1e-18


def test_along_an_axis_the_other_one_does_not_matter():
    law = sgdl(4, 0.5, radius=300)
    assert two_axes_delta(law, shift=(7, 0), loss=1.2) == hockey_stick(law, distance=7, loss=1.2)


@pytest.mark.parametrize("radius", [0.4, 1.0, 6.0, 7.3])
def test_snapping_is_in_the_moves(radius):
    """Every move of a random pair within the radius is listed, up to signs and the order of the axes."""
    rng = np.random.default_rng(1)
    starts, angles = rng.random((20_000, 2)), rng.random(20_000) * 2 * math.pi
    ends = starts + radius * rng.random((20_000, 1)) ** 0.25 * np.stack(
        [np.cos(angles), np.sin(angles)], axis=1
    )
    moves = np.sort(np.abs(np.floor(ends) - np.floor(starts)).astype(int), axis=1)[:, ::-1]
    found = {tuple(move) for move in moves.tolist()} - {(0, 0)}
    assert found <= set(snapped_disk(radius))
    assert set(disk(radius)) <= set(snapped_disk(radius))


def test_600_metres_on_squares_of_100_can_become_more_than_seven_squares():
    assert max(math.hypot(*shift) for shift in snapped_disk(6)) == pytest.approx(7.2, abs=0.02)


def metres(shape, epsilon, persons):
    """Mean length of two independent draws, in squares of 100 m a person."""
    table = np.exp(sgdl(shape, epsilon, radius=20_000).log_probabilities)
    table = np.where(np.arange(table.size) > 0, 2, 1) * table
    table = table[: np.count_nonzero(table > 1e-16)]
    steps = np.arange(table.size)
    return 100 / persons * sum(p * float(table @ np.hypot(s, steps)) for s, p in enumerate(table))


@pytest.mark.parametrize("row", ORACLES["table3"]["rows"], ids=lambda row: row[0])
def test_it_calibrates_to_the_honest_errors_on_the_map(row):
    persons, epsilon, _, axis_m, both_m, central_m = row
    one_axis = epsilon / (6 * math.sqrt(2))
    epsilon_geo = calibrate_two_axes(persons, epsilon / 6, 5e-5, disk(6))
    law = sgdl(persons, epsilon_geo, radius=2500)
    assert largest_two_axes_delta(law, shifts=disk(6), epsilon=epsilon / 6) <= 5e-5
    assert metres(persons, epsilon_geo, persons) == pytest.approx(both_m, rel=1e-8)
    by_axis = calibrate_geo_sum(persons=persons, epsilon=one_axis, delta=2.5e-5, radius=6)
    assert metres(persons, by_axis, persons) == pytest.approx(axis_m, rel=1e-8)
    assert metres(1, one_axis, persons) == pytest.approx(central_m, rel=1e-8)
    assert both_m < 0.7 * axis_m
