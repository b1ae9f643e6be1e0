"""Low ends of intervals of what was chosen for being large."""

import numpy as np
import pytest

from mechanisms.results.significance import low_ends

FLOOR, SCALE = 20.0, 2.0


@pytest.mark.parametrize("truth", [0.0, 15.0, 19.0, 21.0, 24.0, 30.0, 60.0])
def test_low_ends_hold_given_that_the_value_is_above_the_floor(truth):
    """40,000 draws of those above the floor: the standard error of 2.5 % is .1 %.

    Without the floor the low end is missed by all of what is empty and was told.
    """
    random = np.random.default_rng(7)
    if truth < FLOOR:  # the law beyond the floor is exponential there
        values = FLOOR + random.exponential(SCALE, 40_000)
    else:
        values = truth + random.laplace(0, SCALE, 200_000)
        values = values[values > FLOOR][:40_000]
    missed = (low_ends(values, floor=FLOOR, scale=np.full(values.size, SCALE)) > truth).mean()
    assert missed < 0.025 + 4 * 0.001
    if truth >= FLOOR:
        assert missed > 0.025 - 4 * 0.001  # and no wider than that


def test_low_ends_far_above_the_floor_are_those_of_the_noise():
    assert low_ends(np.array([1e6]), floor=FLOOR, scale=np.array([SCALE])) == pytest.approx(
        [1e6 - SCALE * np.log(20)]
    )
    assert low_ends(np.array([FLOOR]), floor=FLOOR, scale=np.array([SCALE])) == [0]
