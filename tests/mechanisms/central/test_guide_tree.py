"""The tree of a guide: rectangles that partition its grid, halves as full as the guide says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive.boxes import Boxes, Rectangles, painted
from mechanisms.central.adaptive.guide_tree import UNIFORM, GuideTree, grid_level, is_divisible
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.guide import SIDE, WHOLE, Guide
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import morton_decode


def guide_of(kind, seed=1):
    random, values = np.random.default_rng(seed), np.zeros((SIDE, SIDE))
    if kind == "one":
        values[tuple(random.integers(0, SIDE, 2))] = 1
    elif kind == "row":
        values[random.integers(0, SIDE)] = 1
    elif kind == "few":
        values = random.random((SIDE, SIDE)) ** 30
    else:
        values[:] = 1
    return Guide.of_values(values)


KINDS = ("one", "row", "few", "even")
TREES = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "level": st.integers(1, 9),
        "plain_from": st.sampled_from([None, 0, 2, 5]),
        "seed": st.integers(0, 10**6),
    }
)


def tree_of(facts):
    guide = guide_of(facts["kind"], facts["seed"])
    return GuideTree.of(guide, level=facts["level"], plain_from=facts["plain_from"])


def random_leaves(tree, random, *, most=60):
    """(depths, codes, boxes) of leaves, node by node."""
    leaves = [(0, 0, tree.root[0])]
    for _ in range(random.integers(0, most)):
        at = random.integers(0, len(leaves))
        depth, code, box = leaves[at]
        if not is_divisible(box[np.newaxis])[0]:
            continue
        halves = (half[0] for half in tree.halves(box[np.newaxis], depth=depth))
        leaves[at : at + 1] = [(depth + 1, 2 * code + bit, half) for bit, half in enumerate(halves)]
    depths, codes, boxes = zip(*leaves, strict=True)
    return np.array(depths), np.array(codes), np.array(boxes)


def covered(boxes, side):
    """How many of the rectangles hold each cell; row 0 south."""
    counts = np.zeros((side, side), int)
    for (west, east), (south, north) in boxes.tolist():
        counts[south:north, west:east] += 1
    return counts


@settings(derandomize=True, deadline=None, max_examples=80)
@given(facts=TREES)
def test_leaves_partition_the_grid_wherever_it_is_split(facts):
    tree = tree_of(facts)
    assert tree.side == 2 ** min(facts["level"], 7)
    depths, codes, boxes = random_leaves(tree, np.random.default_rng(facts["seed"]))
    assert (covered(boxes, tree.side) == 1).all()
    assert np.array_equal(tree.rectangles(depths, codes), boxes)  # each from its code alone


@settings(derandomize=True, deadline=None, max_examples=80)
@given(facts=TREES)
def test_the_longer_side_is_cut_where_the_densities_of_both_halves_differ_least(facts):
    """Of all lines between an eighth and seven eighths of it, cell by cell."""
    tree, density = tree_of(facts), density_of(facts)
    depths, _, boxes = random_leaves(tree, np.random.default_rng(facts["seed"]), most=20)
    for depth, box in zip(depths.tolist(), boxes, strict=True):
        (west, east), (south, north) = box.tolist()
        if east - west < 2 and north - south < 2:
            continue
        first, second = (half[0].tolist() for half in tree.halves(box[np.newaxis], depth=depth))
        inside = density[south:north, west:east]
        if east - west >= north - south:
            axis, low, high, of_lines = 0, west, east, inside.sum(axis=0)
        else:
            axis, low, high, of_lines = 1, south, north, inside.sum(axis=1)
        line = first[axis][1]
        assert (first[axis], second[axis]) == ([low, line], [line, high])
        assert first[1 - axis] == second[1 - axis] == box[1 - axis].tolist()
        if tree.plain_from is not None and depth >= tree.plain_from:
            assert line == (low + high) // 2
            continue
        least = max((high - low) // 8, 1)
        assert low + least <= line <= high - least
        apart = np.abs(2 * of_lines.cumsum()[:-1] - of_lines.sum())
        allowed = apart[least - 1 : high - low - least]
        assert apart[line - low - 1] <= allowed.min() + 1e-9


def density_of(facts):
    """(side, side) row 0 south: .15 spread evenly, the rest as the guide says."""
    side = 2 ** min(facts["level"], 7)
    own = guide_of(facts["kind"], facts["seed"]).shares.reshape(SIDE, SIDE)[::-1] / WHOLE
    south, west = (np.arange(side) * SIDE // side for _ in range(2))
    if side > SIDE:
        own = own[np.ix_(south, west)] / 4
    else:
        own = np.add.reduceat(np.add.reduceat(own, south, axis=0), west, axis=1)
    return UNIFORM / side**2 + (1 - UNIFORM) * own / own.sum()


@pytest.mark.parametrize("level", [1, 2, 6, 7, 16])
def test_densities_of_any_rectangles_add_up_to_one(level):
    facts = {"kind": "few", "level": level, "plain_from": None, "seed": 7}
    tree = tree_of(facts)
    _, _, boxes = random_leaves(tree, np.random.default_rng(3))
    dense, cells = density_of(facts), [np.s_[s:n, w:e] for (w, e), (s, n) in boxes.tolist()]
    assert tree.density(boxes) == pytest.approx([dense[cell].sum() for cell in cells], abs=1e-12)
    assert tree.density(boxes).sum() == pytest.approx(1)
    assert tree.density(tree.root) == pytest.approx(1)


def test_the_density_of_a_corner_is_in_that_corner():
    """Row 0 of a guide is north, column 0 is west."""
    values = np.zeros((SIDE, SIDE))
    values[0, 0] = 1
    tree = GuideTree.of(Guide.of_values(values), level=6)
    north_west = np.array([[[0, 1], [SIDE - 1, SIDE]]])
    assert tree.density(north_west) == pytest.approx(1 - UNIFORM + UNIFORM / SIDE**2)


def test_halves_are_about_as_full_where_a_guide_is_smooth():
    north, east = np.mgrid[0:SIDE, 0:SIDE]
    guide = Guide.of_values(np.exp(-((north - 20) ** 2 + (east - 40) ** 2) / 800.0))
    tree = GuideTree.of(guide, level=8)
    codes = np.arange(2**8)
    share = tree.density(tree.rectangles(np.full(codes.size, 8), codes)) * codes.size
    assert 0.5 < share.min() < share.max() < 2


def test_the_grid_is_as_fine_as_the_map_up_to_128_cells_a_side():
    assert [grid_level(level) for level in (1, 2, 6, 7, 8, 16)] == [1, 2, 6, 7, 7, 7]


def mass_map(level, random, *, cells=200):
    places = np.unique((4**level * random.beta(0.5, 1, cells)).astype(np.int64))
    return MassMap(level=level, unit=4, cells=places, masses=random.integers(1, 9, places.size))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(facts=TREES, first=st.integers(0, 8))
def test_masses_are_exact_through_any_splits(facts, first):
    random = np.random.default_rng(facts["seed"])
    masses = mass_map(facts["level"], random)
    boxes = Boxes.first(masses, tree_of(facts), depth=first, is_doubted=facts["plain_from"] is None)
    for _ in range(6):
        sums = summed(masses, boxes.boxes, boxes.tree.side)
        assert boxes.masses.tolist() == sums
        leaves = Rectangles(tree=boxes.tree, nodes=boxes.nodes)
        assert np.array_equal(leaves.boxes, boxes.boxes)
        assert leaves.masses(masses).tolist() == sums
        chosen = boxes.is_divisible & (random.random(len(boxes.boxes)) < 0.4)
        kept = boxes.boxes[~chosen]
        looks = random.integers(-30, 60, chosen.size)
        boxes = boxes.split(chosen, looks)
        assert np.array_equal(boxes.boxes[: len(kept)], kept)
        assert len(boxes.boxes) == len(kept) + 2 * chosen.sum()


def summed(masses, boxes, side):
    """Mass units in rectangles of the grid, cell by cell."""
    x, y = morton_decode(masses.cells, masses.level)
    x, y = x * side >> masses.level, y * side >> masses.level
    return [
        int(masses.masses[(west <= x) & (x < east) & (south <= y) & (y < north)].sum())
        for (west, east), (south, north) in boxes.tolist()
    ]


@pytest.mark.parametrize("level", [1, 2, 6])
def test_a_rectangle_of_one_cell_is_not_divided_and_stays_among_the_first(level):
    tree = GuideTree.of(guide_of("one"), level=level)
    nothing = MassMap(level=level, unit=1, cells=np.zeros(0, int), masses=np.zeros(0, int))
    boxes = Boxes.first(nothing, tree, depth=2 * level + 1, is_doubted=True)
    assert not boxes.is_divisible.any() or boxes.boxes.shape[0] < 4**level
    deepest = Boxes.first(nothing, tree, depth=60, is_doubted=True)
    assert not deepest.is_divisible.any()
    assert len(deepest.boxes) == 4**level
    assert (covered(deepest.boxes, tree.side) == 1).all()
    assert deepest.nodes.depths.max() < 60


def test_leaves_hold_the_cells_inside_them():
    tree = GuideTree.of(guide_of("few"), level=5)
    random = np.random.default_rng(11)
    depths, codes, boxes = random_leaves(tree, random)
    leaves = Rectangles(tree=tree, nodes=Nodes(depths=depths, codes=codes))
    assert np.array_equal(leaves.boxes, boxes)
    for level in (5, 8):
        cells = random.integers(0, 4**level, 300)
        x, y = (axis >> level - 5 for axis in morton_decode(cells, level))
        found = boxes[leaves.holding(cells, level=level)]
        assert ((found[:, 0, 0] <= x) & (x < found[:, 0, 1])).all()
        assert ((found[:, 1, 0] <= y) & (y < found[:, 1, 1])).all()
    assert np.array_equal(painted(boxes, side=32)[boxes[:, 1, 0], boxes[:, 0, 0]], np.arange(len(boxes)))


LOOKS = {"as the guide says": [40, 40, 40, 40], "all in one": [0, 160, 0, -9], "nothing": [0, -5, 0, -9]}


@pytest.mark.parametrize(("name", "plain_from"), [*zip(LOOKS, [None, 2, 2], strict=True)])
def test_a_first_look_that_does_not_fit_makes_the_tree_plain_below(name, plain_from):
    masses = mass_map(5, np.random.default_rng(5))
    boxes = Boxes.first(masses, GuideTree.of(guide_of("even"), level=5), depth=2, is_doubted=True)
    chosen = np.array([True, False, False, False])
    assert boxes.split(chosen, np.array(LOOKS[name])).tree.plain_from == plain_from
    trusted = replace(boxes, is_first=False)
    assert trusted.split(chosen, np.array(LOOKS[name])).tree.plain_from is None


def test_later_looks_decide_nothing_about_the_tree():
    masses = mass_map(5, np.random.default_rng(5))
    boxes = Boxes.first(masses, GuideTree.of(guide_of("even"), level=5), depth=2, is_doubted=True)
    later = boxes.split(np.array([True, False, False, False]), np.array(LOOKS["as the guide says"]))
    assert later.split(np.zeros(5, np.bool_), np.array([900, 0, 0, 0, 0])).tree.plain_from is None
