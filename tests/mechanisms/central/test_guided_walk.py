"""The walk down a guide's tree: all its outcomes on a small one, and the exchange of tokens on large ones.

As in `test_token_walk.py`, small tokens have P(t) ∝ 2^-|t| on a box of integers, so that every probability is
a sum of powers of two, and an outcome is compared where the tokens of the leaves that differ are inside the
box for both inputs. What a first look decides about the tree is part of the outcome.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive import boxes as frontier
from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.boxes import Boxes, Rectangles
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.guided_walk import DEEPEST_FIRST, GROWTH, TOKENS, WORTH, GuidedWalk
from mechanisms.central.adaptive.informed import Informed
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.one_walk import FINEST_FIRST
from mechanisms.central.adaptive.one_walk import TOKENS as SQUARE_TOKENS
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.central.adaptive.token_walk import SquareFrontier, Worth, walked
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.guide import SIDE, Guide
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import morton_encode
from tests.mechanisms.laws import fits

BOX = range(-2, 3)
LEVEL = 2  # a grid of 4 × 4 cells
EACH = 4  # tokens of each of the two first rectangles
# Tokens that leaves of the cells below may keep, in either tree; all others are 0.
VARIED = (0, 1, 2, 4)
LEAST = {4: 2, 2: 1}  # mass units that are worth it, by tokens
# The guide has nearly everything in the south-west corner: the first cut is east of the first column, and
# the western rectangle is cut north of its first row, in a plain tree in its middle.
CORNER = np.zeros((SIDE, SIDE))
CORNER[-16:, :16] = 1
WEST, NORTH, FAR = (0, 0), (0, 1), (1, 0)  # (column, row) of cells
CROWD = {WEST: 1, FAR: 2}  # mass units
# What a person of two mass units may change, and by how much in L1.
NEIGHBOURS = {
    "one person in one cell": ({WEST: 2}, 2),
    "one person in two cells of one half": ({WEST: 1, NORTH: 1}, 2),
    "one person in two halves": ({NORTH: 1, FAR: 1}, 2),
    "one person for another": ({NORTH: 2, WEST: -1, FAR: -1}, 4),
}


@pytest.fixture(autouse=True, scope="module")
def doubting():
    """So few tokens hide little: a first look that doubts more takes both decisions on a small tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "LEAST_FIT", 0.5)
        yield


def by_tokens(_nodes, looks, tokens):
    return looks >= LEAST[tokens]


def known(scale):
    """A rule that knows what was measured before: much in the west, nothing in the east."""
    nodes = Nodes(depths=np.array([3, 3, 2, 2, 2]), codes=np.array([0, 1, 1, 2, 3]))
    before = Measured(nodes=nodes, noisy=np.array([0.2, 0.0, 0.4, 0.2, -0.4]), scale=scale)
    return Informed.of(Worth(scales=0.75, growth=0.65, branches=2, scale=Fraction(2)), [before])


RULES = {"plain": by_tokens, "informed": known(0.7)}


def after(change):
    return {cell: CROWD.get(cell, 0) + change.get(cell, 0) for cell in CROWD.keys() | change.keys()}


def mass_map(crowd):
    units = {int(morton_encode(np.array(x), np.array(y), LEVEL)): u for (x, y), u in crowd.items() if u}
    cells = sorted(units)
    return MassMap(level=LEVEL, unit=2, cells=np.array(cells), masses=np.array([units[c] for c in cells]))


def first(crowd, *, is_doubted, kind=Boxes):
    tree = GuideTree.of(Guide.of_values(CORNER), level=LEVEL)
    return kind.first(mass_map(crowd), tree, depth=1, is_doubted=is_doubted)


def held(crowd, box):
    """Mass units in a rectangle, cell by cell."""
    (west, east), (south, north) = box
    return sum(units for (x, y), units in crowd.items() if west <= x < east and south <= y < north)


def law(crowd, start, rule):
    """{outcome: probability, but for a factor}: where the tree is plain, its leaves, their noisy masses."""
    outcomes, tokens = {}, np.zeros(2 * EACH, np.int64)
    for vector in product(BOX, repeat=len(VARIED)):
        tokens[list(VARIED)] = vector
        leaves, noisy = walked(start, tokens, branches=2, rule=rule)
        boxes = tuple(tuple(map(tuple, box)) for box in leaves.boxes.tolist())
        outcome = leaves.tree.plain_from, boxes, tuple(noisy.tolist())
        outcomes[outcome] = outcomes.get(outcome, 0.0) + 2.0 ** -sum(map(abs, vector))
    return outcomes


@cache
def honest_law(change, *, is_doubted, rule):
    crowd = after(NEIGHBOURS[change][0] if change else {})
    return law(crowd, first(crowd, is_doubted=is_doubted), RULES[rule])


def comparable(outcome, one, other):
    """Whether the tokens of all leaves that differ are inside the box for both inputs."""
    _, boxes, noisy = outcome
    for box, y in zip(boxes, noisy, strict=True):
        masses = [held(crowd, box) for crowd in (one, other)]
        if masses[0] != masses[1] and not all(y - mass in BOX for mass in masses):
            return False
    return True


def compared(laws, change):
    one, other = CROWD, after(change)
    return [outcome for outcome in laws[0].keys() | laws[1].keys() if comparable(outcome, one, other)]


def worst_ratio(laws, change):
    """Largest quotient of the probabilities of an outcome; infinite where only one of the two has it."""
    pairs = [sorted(part.get(outcome, 0.0) for part in laws) for outcome in compared(laws, change)]
    return max(high / low if low else np.inf for low, high in pairs)


CASES = [(True, "plain"), (False, "informed")]


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize(("is_doubted", "rule"), CASES)
def test_no_outcome_tells_more_than_its_leaves_pay_for(neighbour, is_doubted, rule):
    """All outcomes of 625 vectors of tokens. The bound is reached."""
    change, reach = NEIGHBOURS[neighbour]
    laws = [honest_law(which, is_doubted=is_doubted, rule=rule) for which in (None, neighbour)]
    assert worst_ratio(laws, change) == 2**reach


@pytest.mark.parametrize(("is_doubted", "rule"), CASES)
def test_the_outcomes_that_are_compared_have_both_trees_and_all_depths(is_doubted, rule):
    name = "one person in one cell"
    laws = [honest_law(which, is_doubted=is_doubted, rule=rule) for which in (None, name)]
    heights = {None: set(), 1: set()}  # by `plain_from` those of the south-western leaf
    for plain_from, boxes, _ in compared(laws, NEIGHBOURS[name][0]):
        heights[plain_from] |= {north for (west, _), (south, north) in boxes if west == south == 0}
    assert heights == {None: {4, 1}, 1: {4, 2, 1} if is_doubted else set()}


class GuardThatReadsTheTruth(Boxes):
    """What it holds against the guide are true masses."""

    __slots__ = ()

    def split(self, chosen, looks):
        return Boxes.split(self, chosen, self.masses if self.is_first else looks)


class HalvesByTheTruth(Boxes):
    """The tree is plain where that makes halves that truly hold more alike."""

    __slots__ = ()

    def split(self, chosen, looks):
        tree = replace(self.tree, plain_from=1 if self.masses[0] < 2 else None)
        return Boxes.split(replace(self, tree=tree, is_first=False), chosen, looks)


def rule_that_reads_the_truth(crowd):
    less = held(crowd, ((0, 1), (0, 4))) // 2
    return lambda _nodes, looks, tokens: looks >= LEAST[tokens] - less


def faulty_laws(kind, rule_of, change):
    crowds = CROWD, after(change)
    return [law(crowd, first(crowd, is_doubted=True, kind=kind), rule_of(crowd)) for crowd in crowds]


@pytest.mark.parametrize(
    ("kind", "rule_of", "change"),
    [
        (GuardThatReadsTheTruth, lambda _crowd: by_tokens, {WEST: 2}),
        (HalvesByTheTruth, lambda _crowd: by_tokens, {WEST: 2}),
        (Boxes, rule_that_reads_the_truth, {WEST: 2}),
    ],
)
def test_planted_faults_are_seen_in_the_outcomes(kind, rule_of, change):
    assert worst_ratio(faulty_laws(kind, rule_of, change), change) > 2**2


def test_without_a_fault_they_are_not():
    assert worst_ratio(faulty_laws(Boxes, lambda _crowd: by_tokens, {WEST: 2}), {WEST: 2}) == 2**2


LABELS = 2**DEEPEST_FIRST * TOKENS  # the rest of a token, divided by it, is its place


def labelled(scale, count, seed):
    """Tokens as they are drawn, but for their last bits, which tell them apart."""
    drawn = discrete_laplace(SeededSource(seed), scale=scale / LABELS, size=count)
    return drawn * LABELS + np.arange(count)


def exchanged(starts, measured_cells, tokens, **how):
    """(leaves and what is measured, the tokens with which the other input gives it, the sum of changes)."""
    leaves, noisy = walked(starts[0], tokens, **how)
    one, other = (measured_cells(start, leaves) for start in starts)
    places = (noisy - one) % LABELS
    assert np.array_equal(tokens[places], noisy - one)
    assert np.unique(places).size == places.size
    result = tokens.copy()
    result[places] += one - other
    return (leaves, noisy), result, int(np.abs(one - other).sum())


def exchange(starts, measured_cells, tokens, **how):
    """By how much tokens change in all; to and fro, with the same walk all the while."""
    (leaves, noisy), instead, change = exchanged(starts, measured_cells, tokens, **how)
    (again, same), drawn, _ = exchanged(starts[::-1], measured_cells, instead, **how)
    assert np.array_equal(again.nodes.depths, leaves.nodes.depths)
    assert np.array_equal(again.nodes.codes, leaves.nodes.codes)
    assert np.array_equal(same, noisy)
    assert np.array_equal(drawn, tokens)
    return leaves, change


def scattered(units, *, level, random):
    """A mass map of so many labelled units in random cells."""
    cells = np.unique((4**level * random.beta(0.3, 1, min(units, 500))).astype(np.int64))
    shares = random.multinomial(units, random.dirichlet(np.ones(cells.size)))
    return MassMap(level=level, unit=1, cells=cells[shares > 0], masses=LABELS * shares[shares > 0])


def together(*maps):
    cells, places = np.unique(np.concatenate([one.cells for one in maps]), return_inverse=True)
    masses = np.zeros(cells.size, np.int64)
    np.add.at(masses, places, np.concatenate([one.masses for one in maps]))
    return MassMap(level=maps[0].level, unit=1, cells=cells, masses=masses)


def a_guide(random, kind):
    """Of one cell, of all, or of a few."""
    values = {
        "one": np.zeros((SIDE, SIDE)),
        "even": np.ones((SIDE, SIDE)),
        "few": random.random((SIDE, SIDE)) ** 30,
    }[kind]
    if kind == "one":
        values[tuple(random.integers(0, SIDE, 2))] = 1
    return Guide.of_values(values)


def earlier_of(leaves, noisy, *, scale, noise, random):
    nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
    own = noisy[order] / float(scale)
    return Measured(nodes=nodes, noisy=own + random.laplace(0, noise, own.size), scale=noise)


FACTS = st.fixed_dictionaries(
    {
        "level": st.integers(1, 9),
        "persons": st.integers(1, 2000),
        "replaced": st.booleans(),
        "spread": st.integers(1, 40),  # labelled units of a person
        "noise": st.sampled_from([None, 0.01, 0.5, 2.9]),  # of what was measured before, in own scales
        "seed": st.integers(0, 10**6),
    }
)


def explained(facts, first_of, cells_of, *, each, branches):
    """The leaves of a walk, once other tokens have explained it for a neighbour."""
    level, spread, random = facts["level"], facts["spread"], np.random.default_rng(facts["seed"])
    sizes = facts["persons"] * spread, spread, spread
    crowd, person, instead = (scattered(units, level=level, random=random) for units in sizes)
    inputs = together(crowd, person), together(crowd, instead) if facts["replaced"] else crowd
    starts = [first_of(masses) for masses in inputs]
    scale = Fraction(2 * spread * LABELS)
    worth = Worth(scales=WORTH, growth=GROWTH, branches=branches, scale=scale)
    tokens = labelled(scale, starts[0].nodes.codes.size * each, facts["seed"])
    earlier = []
    if facts["noise"]:
        before = walked(starts[0], tokens[::-1] // 2, branches=branches, rule=worth)
        earlier = [earlier_of(*before, scale=scale, noise=facts["noise"], random=random)]
    masses_of = dict(zip(map(id, starts), inputs, strict=True))

    def measured_cells(start, leaves):
        return cells_of(leaves).masses(masses_of[id(start)])

    rule = Informed.of(worth, earlier)
    leaves, change = exchange(starts, measured_cells, tokens, branches=branches, rule=rule)
    assert change <= spread * LABELS * (2 if facts["replaced"] else 1)
    return leaves


@settings(derandomize=True, deadline=None, max_examples=40)
@given(facts=FACTS, kind=st.sampled_from(["one", "even", "few"]), depth=st.integers(1, 8))
def test_other_tokens_explain_the_same_guided_walk_of_a_neighbour(facts, kind, depth):
    """As many tokens and the rules that are in use, with and without what is known from before."""
    guide = a_guide(np.random.default_rng(facts["seed"]), kind)
    tree = GuideTree.of(guide, level=facts["level"])
    leaves = explained(
        facts,
        lambda masses: Boxes.first(masses, tree, depth=depth, is_doubted=facts["noise"] is None),
        lambda leaves: Rectangles(tree=leaves.tree, nodes=leaves.nodes),
        each=TOKENS,
        branches=2,
    )
    sides = leaves.boxes[:, :, 1] - leaves.boxes[:, :, 0]
    assert (sides > 0).all()
    assert sides.prod(axis=1).sum() == tree.side**2


@settings(derandomize=True, deadline=None, max_examples=20)
@given(facts=FACTS)
def test_other_tokens_explain_the_same_walk_where_something_is_known(facts):
    first_level = min(facts["level"], FINEST_FIRST)
    explained(
        facts,
        lambda masses: SquareFrontier.first(masses, level=first_level),
        lambda leaves: Cut(levels=leaves.levels, prefixes=leaves.prefixes),
        each=SQUARE_TOKENS,
        branches=4,
    )


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("is_right", [True, False])
def test_every_leaf_has_noise_of_the_scale_that_was_paid_for(relation, is_right):
    """Crowds in every cell of what the tree can tell apart, so that all tokens are used: the exact law."""
    values = np.ones((SIDE, SIDE)) if is_right else np.eye(1, SIDE**2).reshape(SIDE, SIDE)
    facts = {"relation": relation, "epsilon": Fraction(1), "expected_persons": 200}
    walk = GuidedWalk(resolution=16, guide=Guide.of_values(values), **facts)
    cells = np.arange(256)
    masses = MassMap(level=4, unit=walk.unit, cells=cells, masses=np.full(256, 10_000 * walk.unit))
    rounds = [walk.measure(masses, SeededSource(seed))[0] for seed in range(40)]
    assert {part.cells.tree.plain_from for part in rounds} == {None if is_right else walk.first_depth}
    noise = np.concatenate([part.noisy - part.cells.masses(masses) for part in rounds])
    assert noise.size == 40 * 256
    scale = Fraction(walk.unit * (2 if relation is Relation.REPLACE else 1))
    assert fits(noise, scale)
    assert not fits(noise, scale * 11 / 10)
    assert not fits(noise, scale * 10 / 11)
