"""Packing numbers and scales of finite spaces: known values, brute force, Examples 6.1 to 6.4."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from mechanisms.reproduction.boedihardjo_2024 import spaces
from mechanisms.reproduction.boedihardjo_2024.bounds import (
    diametric_bound,
    entropic_bound,
    packing_bound,
    pair_bound,
)
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace, is_ultrametric, within
from mechanisms.reproduction.boedihardjo_2024.packing import (
    at_least,
    at_most,
    neighbourhoods,
    number_of,
    packing_number,
)
from mechanisms.reproduction.boedihardjo_2024.scales import (
    diametric_scale,
    doubling_dimension,
    doubling_scale,
    entropic_scale,
    outer_scale,
)

LINE = FiniteSpace.of_points(np.arange(21)[:, np.newaxis] / 20)
SEED = 20240501


def by_brute_force(distances, separation):
    size = len(distances)
    near = within(distances, separation)
    return max(
        count
        for count in range(1, size + 1)
        for points in combinations(range(size), count)
        if not near[np.ix_(points, points)][np.triu_indices(count, 1)].any()
    )


@pytest.mark.parametrize("separation", [0, 1 / 24, 0.1, 0.25, 0.4, 0.5])
def test_packing_numbers_of_a_circle(separation):
    # The next larger arc is k + 1 of 24 steps: ⌊24 / (k + 1)⌋ points keep it all around.
    steps = math.floor(separation * 24 + 1e-9) + 1
    found = packing_number(spaces.circle(24).second, separation)
    assert found.low == found.high == max(1, 24 // steps)


@pytest.mark.parametrize(("side", "squared", "number"), [(5, 0, 25), (5, 1, 13), (4, 2, 4), (5, 2, 9)])
def test_packing_numbers_of_a_grid(side, squared, number):
    """Of points at a squared distance above the given one: a chess board's white squares (1), kings (2)."""
    cells = np.array([(x, y) for x in range(side) for y in range(side)])
    found = packing_number(FiniteSpace.of_points(cells).second, math.sqrt(squared))
    assert found.low == found.high == number


def test_it_is_what_trying_all_sets_gives_and_the_greedy_bounds_hold():
    rng = np.random.default_rng(SEED)
    for _ in range(3):
        distances = FiniteSpace.of_points(rng.random((9, 2))).second
        for separation in np.quantile(distances, (0.2, 0.4, 0.6, 0.8)):
            truth = by_brute_force(distances, separation)
            found, greedy = (packing_number(distances, separation, most_steps=k) for k in (10**6, 0))
            assert found.low == found.high == truth
            assert greedy.low <= truth <= greedy.high
            near = neighbourhoods(distances, separation)
            assert at_least(near, range(9))[-1] <= truth <= at_most(near, range(9))[-1]


@pytest.mark.parametrize(("seed", "separation"), [(3, 0.25), (4, 0.25), (9, 0.2)])
def test_where_greedy_sets_are_too_small_the_search_finds_what_an_integer_programme_does(seed, separation):
    distances = FiniteSpace.of_points(np.random.default_rng(seed).random((24, 2))).second
    one, other = np.nonzero(np.triu(within(distances, separation), 1))
    pairs = np.zeros((len(one), 24))
    pairs[np.arange(len(one)), one] = pairs[np.arange(len(one)), other] = 1
    truth = milp(-np.ones(24), constraints=LinearConstraint(pairs, ub=1), integrality=1, bounds=Bounds(0, 1))
    found, greedy = (packing_number(distances, separation, most_steps=k) for k in (10**6, 0))
    assert greedy.low < found.low == found.high == round(-truth.fun) <= greedy.high


def test_a_search_that_is_cut_short_says_so():
    near = neighbourhoods(FiniteSpace.of_points(np.random.default_rng(SEED).random((60, 2))).second, 0.15)
    exact, cut = (number_of(near, range(60), most_steps=steps) for steps in (10**6, 3))
    assert exact.exact
    assert cut.low <= exact.low <= cut.high
    assert not cut.exact


def test_what_is_no_metric_is_refused():
    for wrong, says in (
        ([[0, 1, 3], [1, 0, 1], [3, 1, 0]], "triangle"),
        ([[0, 0], [0, 0]], "above 0"),
        ([[0, 1], [2, 0]], "both ways"),
        ([[0, math.nan], [math.nan, 0]], "finite"),
    ):
        with pytest.raises(ValueError, match=says):
            FiniteSpace.of(wrong)


def literally_entropic(space, alpha):
    """Definition 1.4, ball by ball, with sets found by trying all."""

    def fails(scale):
        for row in space.first:
            for r in row:
                ball = np.flatnonzero(row <= r)
                if math.log(by_brute_force(space.second[np.ix_(ball, ball)], scale)) > alpha * r + 1e-12:
                    return True
        return False

    return min(scale for scale in space.scales() if not fails(scale))


@pytest.mark.parametrize("alpha", [0.5, 2, 6])
def test_the_entropic_scale_is_its_definition(alpha):
    rng = np.random.default_rng(SEED)
    first, second = (FiniteSpace.of_points(rng.random((7, 2))).first for _ in range(2))
    space = FiniteSpace(first=first, second=second)
    found = entropic_scale(space, alpha)
    assert found.low == found.high == literally_entropic(space, alpha)
    greedy = entropic_scale(space, alpha, most_steps=0)
    assert greedy.low <= found.low <= greedy.high


def test_scales_of_a_line():
    # 21 points, 0.05 apart. Two points: diam = |x - y| within balls of half as much or all of it.
    assert diametric_scale(LINE, 1.0) == pytest.approx(
        max(min(1, 2 * k / 20) * math.exp(-k / 20) for k in range(21))
    )
    assert outer_scale(LINE, 4.0).low == pytest.approx(
        min(k / 20 + math.log(1 + 20 // (k + 1)) / 4 for k in range(21))
    )
    assert 2 ** doubling_dimension(LINE).high == 4  # a piece of length 4s has at most four points s apart
    for alpha in (1, 4, 16):
        doubling, entropic, outer = (
            scale(LINE, float(alpha)) for scale in (doubling_scale, entropic_scale, outer_scale)
        )
        assert doubling.high <= entropic.low <= 2 * outer.high
        # Read literally, definition 2.8 gives 0 here: at s = 0.01 a ball of radius 2s holds one point.
        assert packing_number(LINE.second, 0.01, points=[4]).high == 1 <= math.exp(2 * alpha * 0.01)


# --- Example 6.1: balls of normed spaces ---


@pytest.mark.parametrize(
    ("space", "dimensions", "fine"),
    [
        (spaces.ball(1, a_side=16), 1, 1 / 16),
        (spaces.ball(2, a_side=4), 2, 1 / 4),
        (spaces.ball(2, a_side=3, order=math.inf), 2, 1 / 3),
        (spaces.ball(2, a_side=4, order=1), 2, 1 / 4),
    ],
    ids=["interval", "disc", "square", "diamond"],
)
def test_the_scale_of_a_ball_is_d_over_alpha(space, dimensions, fine):
    """Proof of Theorem 6.1 with its constants: s ≤ 4 · min(d/α, 2), and s ≥ min(d/α, 1) / 10 as long as that
    is above the grid's own spacing."""
    for alpha in (0.5, 1.0, 2.0, 4.0):
        scale, shape = entropic_scale(space, alpha), min(dimensions / alpha, 1)
        assert scale.exact
        assert scale.high <= min(4 * dimensions / alpha, space.diameter)
        assert scale.low >= min(shape, 1) / 10
        assert scale.low >= 0.3 * shape - fine  # what it is, roughly


# --- Examples 6.2 and 6.3: measures and functions, where the power of alpha is -1 / (d + 1) ---


@pytest.mark.parametrize(
    ("space", "alphas"),
    [(spaces.measures(3, places=5), (1, 2, 4, 8, 16)), (spaces.slopes(6), (1, 2, 4, 8))],
    ids=["measures", "functions"],
)
def test_measures_and_functions_on_an_interval_fall_like_the_root_of_alpha(space, alphas):
    scales = [entropic_scale(space, float(alpha), most_steps=300) for alpha in alphas]
    for alpha, scale in zip(alphas, scales, strict=True):
        shape = min(alpha**-0.5, 1)
        assert 0.3 * shape <= scale.low <= scale.high <= 2 * shape
        assert scale.high <= 2 * outer_scale(space, float(alpha), most_steps=300).high  # Proposition 2.11
    slope = math.log(scales[-1].low / scales[0].low) / math.log(alphas[-1] / alphas[0])
    assert -0.85 < slope < -0.35


def test_distances_of_the_examples():
    measures = spaces.measures(2, places=3)
    assert measures.size == 6
    assert measures.diameter == 1  # all mass from one end to the other
    assert spaces.slopes(3).diameter == 2
    assert sorted(set(measures.second[0])) == [0, 0.25, 0.5, 0.75, 1]


# --- Example 6.4: ultrametrics ---


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5, 7.0, 30.0])
@pytest.mark.parametrize(
    ("f", "g"),
    [
        (lambda k: 2.0**-k, lambda k: 2.0**-k),
        (lambda k: 3.0**-k, lambda k: 2.0**-k),
        (lambda k: 1 / k, lambda k: 3.0**-k),
    ],
    ids=["Baire", "two bases", "slow"],
)
def test_the_formula_for_ultrametrics_is_exact(f, g, alpha):
    length = 5
    space = spaces.sequences(length, f, g)
    assert is_ultrametric(space.first)
    assert is_ultrametric(space.second)
    last = math.floor(min(k + alpha / math.log(2) * f(k) for k in range(1, length + 1)))
    expected = g(last) if last <= length else 0  # cut off: from there on all are equal
    found = entropic_scale(space, alpha)
    assert found.exact
    assert found.low == pytest.approx(expected)
    assert diametric_scale(space, alpha) == pytest.approx(
        max(g(k) * math.exp(-alpha * f(k)) for k in range(1, length + 1))
    )


def test_both_scales_of_the_baire_metric_are_like_one_over_alpha():
    space = spaces.sequences(7, lambda k: 2.0**-k)
    for alpha in (0.5, 2.0, 8.0, 20.0):
        shape = min(1 / alpha, 1)
        assert shape / 4 <= entropic_scale(space, alpha).low <= 2 * shape
        assert shape / 4 <= diametric_scale(space, alpha) <= shape


# --- the bounds, sharper than printed ---


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_the_sharper_bounds_are_above_the_printed_ones(alpha):
    for space in (LINE, spaces.ball(2, a_side=3), spaces.circle(16), spaces.quadtree(2)):
        scale = entropic_scale(space, 2 * alpha)
        assert entropic_bound(space, alpha) == pytest.approx(scale.low / 8, rel=1e-6)
        assert pair_bound(space, alpha) >= 2.499 * diametric_bound(space, alpha)
        assert max(pair_bound(space, alpha), packing_bound(space, alpha)) >= 1.17 * entropic_bound(
            space, alpha
        )


def test_two_points_reach_the_bound_of_pairs():
    space = FiniteSpace.of([[0, 3], [3, 0]])
    # Truth with probability exp(3α) / (1 + exp(3α)), the other point otherwise.
    assert pair_bound(space, 0.5) == pytest.approx(3 / (1 + math.exp(1.5)), rel=1e-6)
    assert diametric_bound(space, 1e-9) == pytest.approx(3 / 5, rel=1e-6)


def test_the_step_of_theorem_3_1_needs_the_floor():
    shares = np.arange(1, 400) / 100
    assert (np.floor(4 / 3 * np.exp(shares)) <= np.exp(2 * shares)).all()
    assert math.ceil(4 / 3 * math.exp(0.1)) > math.exp(0.2)
