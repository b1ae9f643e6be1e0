"""Intervals and probabilities from beliefs on a grid of masses, against their definitions."""

import numpy as np
import pytest

from mechanisms.central.adaptive.leaf_posterior import likely_occupied, spread, within

GRID = np.array([0.0, 1.0, 2.0, 4.0])  # parts end at 0.5, 1.5, 3 and 4


def found(belief, *, measured=100.0, reach=3.0, scale_persons=1.0):
    belief = np.array([belief], np.float64).T
    return spread(GRID, belief, np.array([measured]), np.array([reach]), scale_persons=scale_persons)


def test_intervals_hold_the_quantiles_of_the_belief():
    # 2.5 % lie below the first fifth of [1.5, 3]; the measurement is far above, so the low end is that.
    assert found([0.02, 0, 0.025, 0.955]).low == pytest.approx([1.5 + 0.2 * 1.5])
    assert found([1, 0, 0, 0], measured=-100).high == pytest.approx([0.975 * 0.5])
    assert found([0, 0, 0, 1], measured=-100).high == pytest.approx([3.975])


@pytest.mark.parametrize("reach", [0.5, 2.0, 300.0])
def test_intervals_hold_what_was_measured(reach):
    assert found([1, 0, 0, 0], measured=5.0, reach=reach).high == pytest.approx([5 + reach])
    assert found([0, 0, 0, 1], measured=3.2, reach=reach).low == pytest.approx([max(3.2 - reach, 0)])


@pytest.mark.parametrize("scales", [(1,), (1, 1), (1, 2), (1, 10), (1, 1, 1), (1, 3, 0.3), (1,) * 16])
def test_means_of_measurements_stay_within_in_95_of_100_draws(scales):
    """Weighted by precision; of one measurement or two equal ones exactly. 300,000 draws: a standard error of
    .0004."""
    scales = np.array(scales, float)
    noise = np.random.default_rng(20240229).laplace(0, scales, (300_000, scales.size))
    weights = scales**-2
    precision = weights.sum()
    reach = within(np.array([precision]), times=np.array([precision**2 / (weights**2).sum()]))
    beyond = (np.abs(noise @ weights / precision) > reach).mean()
    assert 0.033 < beyond < 0.0515
    if len(set(scales.tolist())) == 1 and scales.size <= 2:
        assert beyond == pytest.approx(0.05, abs=0.0015)


def test_intervals_end_at_nothing():
    assert found([1, 0, 0, 0], measured=0.1).low == 0


@pytest.mark.parametrize(
    ("scale_persons", "empty"),
    [(4.0, 0.5), (1.0, 0.5), (0.5, 0.5 + 0.5 * 0.3), (0.1, 1.0)],
)
def test_a_cell_is_empty_below_half_a_person(scale_persons, empty):
    # Half a person is an eighth of a noise scale, a half, one (the middle of the second part) and five.
    assert found([0.5, 0.3, 0.1, 0.1], scale_persons=scale_persons).empty == pytest.approx([empty])


def test_the_most_cells_are_taken_whose_mean_is_within_the_rate():
    empty = np.array([0.9, 0.0, 0.12, 0.03, 0.06])
    assert likely_occupied(empty, rate=0.05).tolist() == [False, True, False, True, True]  # .21/4 is above
    assert not likely_occupied(np.array([0.2]), rate=0.05).any()
    assert not likely_occupied(np.zeros(0), rate=0.05).any()
