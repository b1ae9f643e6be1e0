"""Maps of squares from beliefs about a guide's rectangles: nothing is lost, no square too fine."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive.boxes import painted
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.guided_raster import LEAST_FIT, guided_map, rasterized, rectangle_numbers
from mechanisms.central.adaptive.leaf_posterior import Spread
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.tree_posterior import Posterior
from mechanisms.results.measurements import Measurement, Measurements
from mechanisms.space.grid import children, morton_decode
from tests.mechanisms.central.test_guide_tree import TREES, guide_of, random_leaves, tree_of


def leaves_of(tree, seed):
    depths, codes, boxes = random_leaves(tree, np.random.default_rng(seed))
    order = np.argsort(codes << int(depths.max()) - depths)
    return depths[order], codes[order], boxes[order]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(facts=TREES)
def test_squares_partition_the_grid_each_in_one_rectangle_whose_mass_they_share(facts):
    tree = tree_of(facts)
    depths, _, boxes = leaves_of(tree, facts["seed"])
    squares = rasterized(tree, depths, boxes)
    level = tree.side.bit_length() - 1
    cells, leaf, density = every_cell(squares, level)
    assert np.array_equal(cells, np.arange(4**level))  # in Morton order, each once
    x, y = morton_decode(cells, level)
    assert np.array_equal(leaf, painted(boxes, side=tree.side)[y, x])
    held = np.bincount(leaf, density, len(boxes))
    assert held == pytest.approx(np.ones(len(boxes)))
    assert ((squares.shares > 0) & (squares.shares <= 1)).all()
    one_cell = np.stack((np.stack((x, x + 1), 1), np.stack((y, y + 1), 1)), axis=1)
    plain = np.zeros(len(boxes), bool) if tree.plain_from is None else depths >= tree.plain_from
    sides = boxes[:, :, 1] - boxes[:, :, 0]
    as_guided = tree.density(one_cell) / tree.density(boxes)[leaf]
    expected = np.where(plain[leaf], 1 / sides.prod(axis=1)[leaf], as_guided)
    assert density == pytest.approx(expected, rel=1e-6)


def every_cell(squares, level):
    """(cell, its leaf, its share) of the finest cells in the squares, in their order."""
    up = level - squares.levels.astype(int)
    counts = 4**up
    starts = squares.prefixes << 2 * up
    within = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
    return (
        np.repeat(starts, counts) + within,
        np.repeat(squares.leaves, counts),
        np.repeat(squares.shares / counts, counts),
    )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(facts=TREES)
def test_no_four_squares_could_be_one(facts):
    tree = tree_of(facts)
    depths, _, boxes = leaves_of(tree, facts["seed"])
    squares = rasterized(tree, depths, boxes)
    known = {
        (level, prefix): (leaf, share)
        for level, prefix, leaf, share in zip(
            squares.levels.tolist(),
            squares.prefixes.tolist(),
            squares.leaves.tolist(),
            squares.shares.tolist(),
            strict=True,
        )
    }
    for level, prefix in {(level, prefix >> 2) for level, prefix in known if level}:
        fours = [known.get((level, int(child))) for child in children(np.array([prefix]))]
        if all(fours):
            leaves, shares = zip(*fours, strict=True)
            assert len(set(leaves)) > 1 or max(shares) - min(shares) > 1e-9 * min(shares)


def test_an_even_guide_and_whole_squares_come_back_as_they_are():
    tree = GuideTree.of(guide_of("even"), level=7)
    codes = np.arange(16)
    boxes = tree.rectangles(np.full(16, 4), codes)
    squares = rasterized(tree, np.full(16, 4), boxes)
    assert squares.levels.tolist() == [2] * 16
    assert squares.shares.tolist() == [1.0] * 16
    assert sorted(squares.leaves.tolist()) == codes.tolist()


def test_below_a_plain_tree_rectangles_are_filled_evenly_whatever_the_guide_says():
    for plain_from, even in ((None, False), (2, True)):
        tree = GuideTree.of(guide_of("few"), level=5, plain_from=plain_from)
        boxes = tree.rectangles(np.full(4, 2), np.arange(4))
        _, leaf, share = every_cell(rasterized(tree, np.full(4, 2), boxes), 5)
        flat = [bool(np.ptp(share[leaf == number]) < 1e-12) for number in range(4)]
        assert flat == [even] * 4


KEPT = Measurements(
    parts=(
        Measurement(
            scale_persons=1.0, depths=np.zeros(1, np.uint8), codes=np.zeros(1, int), noisy=np.ones(1)
        ),
    )
)


def test_a_guide_that_fits_too_little_says_nothing_of_the_insides_of_rectangles():
    """People in one rectangle, and some where the guide says: a bit more or less than needed."""
    tree, depths, codes = GuideTree.of(guide_of("few"), level=5), np.full(16, 4), np.arange(16)
    boxes = tree.rectangles(depths, codes)
    density, alone = tree.density(boxes), np.eye(16)[3]
    found = posterior_of(depths, codes, np.random.default_rng(1))
    drawn = {}
    for is_even in (False, True):
        fit = LEAST_FIT + (-0.01 if is_even else 0.01)
        part = (fit - density[3]) / (1 - density[3])  # of the people who are where the guide says
        mean = 100 * (part * density + (1 - part) * alone)
        assert tree.fit(boxes, mean) == pytest.approx(fit)
        beliefs = replace(found, mean=mean, deviation=np.ones(16))
        drawn[is_even] = guided_map(beliefs, tree, level=5, scale_persons=1.0, measurements=KEPT)
        assert drawn[is_even].measurements.is_even is is_even
        squares = rasterized(tree, depths, boxes, is_even=is_even)
        assert drawn[is_even].values == pytest.approx(mean[squares.leaves] * squares.shares)
    _, leaf, share = every_cell(rasterized(tree, depths, boxes, is_even=True), 5)
    assert max(np.ptp(share[leaf == number]) for number in range(16)) < 1e-12


@pytest.mark.parametrize("masses", [np.zeros(4), -np.ones(4)])
def test_a_guide_does_not_fit_where_nothing_was_found(masses):
    tree = GuideTree.of(guide_of("even"), level=7)
    boxes = tree.rectangles(np.full(4, 2), np.arange(4))
    assert tree.fit(boxes, masses) == 0
    assert tree.fit(boxes, masses + 5) == pytest.approx(1)


def posterior_of(depths, codes, random):
    mean = np.where(random.random(codes.size) < 0.2, 0.0, random.exponential(20, codes.size))
    low = mean * random.random(codes.size)
    high = mean + random.exponential(3, codes.size)
    return Posterior(
        nodes=Nodes(depths=depths, codes=codes),
        mean=mean,
        deviation=random.exponential(2, codes.size),
        spread=Spread(low=low, high=high, empty=random.random(codes.size)),
    )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(facts=TREES, scale=st.sampled_from([0.01, 1.0, 40.0]))
def test_a_map_holds_what_the_leaves_hold_with_errors_in_order(facts, scale):
    tree, random = tree_of(facts), np.random.default_rng(facts["seed"])
    depths, codes, boxes = leaves_of(tree, facts["seed"])
    found = posterior_of(depths, codes, random)
    heatmap = guided_map(found, tree, level=facts["level"], scale_persons=scale, measurements=KEPT)
    is_even = heatmap.measurements.is_even
    leaf = rasterized(tree, depths, boxes, is_even=is_even).leaves
    sums = np.bincount(leaf, heatmap.values, codes.size)
    assert sums == pytest.approx(found.mean * scale)
    assert heatmap.total == pytest.approx(found.mean.sum() * scale)
    assert heatmap.measurements.parts == KEPT.parts
    assert heatmap.level == facts["level"]
    assert (heatmap.lows <= heatmap.values).all()
    assert (heatmap.values <= heatmap.highs).all()
    assert (heatmap.lows >= 0).all()
    for numbers in (heatmap.lows, heatmap.highs, heatmap.standard_errors):
        assert np.isfinite(numbers).all()
    assert heatmap.deviations is None  # of a sum that cuts through rectangles nobody knows how far it is off
    whole = np.bincount(leaf) == 1
    assert heatmap.lows[whole[leaf]] == pytest.approx(found.spread.low[leaf][whole[leaf]] * scale)
    assert heatmap.highs[whole[leaf]] == pytest.approx(found.spread.high[leaf][whole[leaf]] * scale)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(facts=TREES)
def test_squares_have_the_number_of_the_finest_rectangle_that_was_measured(facts):
    """A map that goes on from another of the same people has measured coarser rectangles before."""
    tree = tree_of(facts)
    depths, codes, boxes = leaves_of(tree, facts["seed"])
    squares = rasterized(tree, depths, boxes)
    kept = Measurements(
        parts=(KEPT.parts[0], measured(depths, codes)),
        grid_level=tree.side.bit_length() - 1,
        shares=guide_of(facts["kind"], facts["seed"]).shares,
        plain_from=tree.plain_from,
    )
    found = posterior_of(depths, codes, np.random.default_rng(facts["seed"]))
    heatmap = guided_map(found, tree, level=facts["level"], scale_persons=1.0, measurements=kept)
    numbers = rectangle_numbers(heatmap)
    if not heatmap.measurements.is_even:
        assert np.array_equal(numbers, squares.leaves + 1)
    held = np.bincount(numbers, heatmap.values)
    assert held[1:] == pytest.approx(found.mean)
    assert rectangle_numbers(replace(heatmap, measurements=KEPT)) is None


def measured(depths, codes):
    return Measurement(
        scale_persons=1.0, depths=depths.astype(np.uint8), codes=codes, noisy=np.zeros(codes.size)
    )
