"""Intervals and probabilities from beliefs on a grid of masses, against their definitions."""

import numpy as np
import pytest

from mechanisms.central.adaptive.leaf_posterior import likely_occupied, spread

GRID = np.array([0.0, 1.0, 2.0, 4.0])  # parts end at 0.5, 1.5, 3 and 4


def found(belief, *, measured=100.0, times=1, scale_persons=1.0):
    belief = np.array([belief], np.float64).T
    return spread(GRID, belief, np.array([measured]), np.array([times]), scale_persons=scale_persons)


def test_intervals_hold_the_quantiles_of_the_belief():
    # 2.5 % lie below the first fifth of [1.5, 3]; the measurement is far above, so the low end is that.
    assert found([0.02, 0, 0.025, 0.955]).low == pytest.approx([1.5 + 0.2 * 1.5])
    assert found([1, 0, 0, 0], measured=-100).high == pytest.approx([0.975 * 0.5])
    assert found([0, 0, 0, 1], measured=-100).high == pytest.approx([3.975])


@pytest.mark.parametrize(("times", "within"), [(1, np.log(20)), (2, 2.0569)])
def test_intervals_hold_what_was_measured(times, within):
    # The mean of two Laplace variables exceeds x in size with probability (1 + x) exp(-2x).
    one = found([1, 0, 0, 0], measured=5.0, times=times)
    assert one.high == pytest.approx([5 + within], abs=1e-4)
    other = found([0, 0, 0, 1], measured=3.2, times=times)
    assert other.low == pytest.approx([3.2 - within], abs=1e-4)
    exceeded = np.exp(-within) if times == 1 else (1 + within) * np.exp(-2 * within)
    assert exceeded == pytest.approx(0.05, rel=1e-3)


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
