"""The walk with tokens: all its outcomes on small trees, and the proof's exchange of tokens on large ones.

Tokens on small trees have P(t) ∝ 2^-|t| on a box of integers, so that every probability is a sum of powers of
two, exact in floating point. An outcome is compared where the tokens of the leaves that differ are inside the
box for both inputs: there it misses no term, and the ratio is bounded exactly.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive import token_walk as walks
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.one_walk import FINEST_FIRST, GROWTH, TOKENS, WORTH, OneWalk
from mechanisms.central.adaptive.quadtree_cut import Cut, cell_masses
from mechanisms.central.adaptive.token_walk import SquareFrontier, Worth
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace
from tests.mechanisms.examples import SEED
from tests.mechanisms.laws import fits

BOX = range(-2, 3)
TREES = 7  # level whose cells are the roots of small trees, one for each vector of tokens
DEPTH = 3  # levels below a root
LEAVES = 4**DEPTH
SPLITS = (2, 3, 5)  # mass units, of cells with 4, 16 and 64 tokens
# The tokens that finest cells 0, 16 and 17 of a tree may keep, and one more; all others are 0.
VARIED = (0, 1, 4, 16, 17, 20)
CROWD = {16: 2, 40: 1}  # mass units by finest cell
# What a person of two mass units may change, and by how much in L1.
NEIGHBOURS = {
    "one person in one cell": ({16: 2}, 2),
    "one person in two cells of one parent": ({16: 1, 17: 1}, 2),
    "one person in two cells far apart": ({0: 1, 16: 1}, 2),
    "one person for another": ({0: 2, 16: -2}, 4),
    "half a person for another half": ({16: -1, 17: 1}, 2),
}


@dataclass(frozen=True)
class Walk:
    cut: Cut
    noisy: np.ndarray

    @classmethod
    def of(cls, leaves, noisy):
        nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
        return cls(cut=Cut.of_nodes(nodes), noisy=noisy[order])


def splitting(splits):
    """The rule that splits from so many mass units on: a cell with 4 tokens, with 16, …"""
    return lambda _nodes, looks, tokens: looks >= splits[tokens.bit_length() // 2 - 1]


def walked(masses, tokens, *, splits, first):
    rule = splitting(splits)
    return Walk.of(*walks.walked(SquareFrontier.first(masses, level=first), tokens, branches=4, rule=rule))


def thresholds(scale):
    worth = Worth(scales=WORTH, growth=GROWTH, branches=4, scale=scale)
    return worth.least(4 ** np.arange(1, 6)).tolist()


def after(change):
    """The crowd with so many mass units more in finest cells."""
    return {cell: CROWD.get(cell, 0) + change.get(cell, 0) for cell in CROWD.keys() | change.keys()}


def vectors(varied, count):
    """(5^k, count) all vectors of the varied tokens."""
    tokens = np.zeros((len(BOX) ** len(varied), count), np.int64)
    tokens[:, varied] = list(product(BOX, repeat=len(varied)))
    return tokens


def weights(tokens):
    return (2.0 ** -np.abs(tokens).sum(axis=1)).tolist()


def mass_map(crowd, *, level, trees=1):
    cells = np.array(sorted(cell for cell, units in crowd.items() if units), np.int64)
    units = np.array([crowd[cell] for cell in cells.tolist()], np.int64)
    each = np.add.outer(np.arange(trees) * LEAVES, cells).ravel()
    return MassMap(level=level, unit=2, cells=each, masses=np.tile(units, trees))


def law(crowd, walk):
    """{outcome: probability, but for a factor}; an outcome is the leaves of one tree."""
    tokens = np.zeros((4**TREES, LEAVES), np.int64)
    varied = vectors(VARIED, LEAVES)
    tokens[: len(varied)] = varied
    result = walk(mass_map(crowd, level=TREES + DEPTH, trees=4**TREES), tokens, crowd)
    depths = result.cut.levels - TREES
    trees = result.cut.prefixes >> 2 * depths
    leaves = np.stack((depths, result.cut.prefixes - (trees << 2 * depths), result.noisy), axis=1)
    ends = np.searchsorted(trees, np.arange(len(varied)), side="right").tolist()
    outcomes = {}
    for start, end, weight in zip([0, *ends], ends, weights(varied), strict=False):
        outcome = tuple(map(tuple, leaves[start:end].tolist()))
        outcomes[outcome] = outcomes.get(outcome, 0.0) + weight
    return outcomes


def comparable(leaves, one, other, *, finest=DEPTH):
    """Whether the tokens of all leaves that differ are inside the box for both inputs."""
    for depth, prefix, noisy in leaves:
        up = 2 * (finest - depth)
        masses = [sum(units for cell, units in x.items() if cell >> up == prefix) for x in (one, other)]
        if masses[0] != masses[1] and not all(noisy - mass in BOX for mass in masses):
            return False
    return True


def worst_ratio(laws, chosen):
    """Largest quotient of the probabilities of an outcome; infinite where only one of the two has it."""
    pairs = [sorted(part.get(outcome, 0.0) for part in laws) for outcome in chosen]
    return max(high / low if low else np.inf for low, high in pairs)


def worst_outcome(change, walk):
    other = after(change)
    laws = law(CROWD, walk), law(other, walk)
    outcomes = laws[0].keys() | laws[1].keys()
    return worst_ratio(laws, [leaves for leaves in outcomes if comparable(leaves, CROWD, other)])


def honest(masses, tokens, _crowd):
    return walked(masses, tokens.ravel(), splits=SPLITS, first=TREES)


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_no_outcome_tells_more_than_its_leaves_pay_for(neighbour):
    """All outcomes of 15,625 vectors of tokens. The bound is reached: with less noise it would not hold."""
    change, reach = NEIGHBOURS[neighbour]
    assert worst_outcome(change, honest) == 2**reach


@pytest.mark.parametrize("cell", [0, 16])
def test_the_outcomes_that_are_compared_split_and_drop_at_every_level(cell):
    other = after({16: 2})
    outcomes = [leaves for leaves in law(CROWD, honest) if comparable(leaves, CROWD, other)]
    found = {depth for leaves in outcomes for depth, prefix, _ in leaves if cell >> 2 * (3 - depth) == prefix}
    assert found == {0, 1, 2, 3}


def one_token_in_two_cells(masses, tokens, crowd):
    """The root's first token is its second quarter's too: two leaves keep it."""
    tokens[:, 16] = tokens[:, 0]
    return honest(masses, tokens, crowd)


def one_token_kept_and_dropped(masses, tokens, crowd):
    """The token of a leaf is also among those that were dropped on the way to it."""
    tokens[:, 18] = tokens[:, 16]
    return honest(masses, tokens, crowd)


class FlooredAnew:
    """Masses of coarse cells in whole persons, rounded at each look."""

    def __init__(self, masses):
        self._masses, self.level = masses, masses.level

    def interval_sums(self):
        return self

    def within(self, levels, prefixes):
        exact = cell_masses(self._masses, levels, prefixes)
        return np.where(levels < self.level, exact // 2 * 2, exact)


def masses_floored_at_each_look(masses, tokens, crowd):
    return honest(FlooredAnew(masses), tokens, crowd)


def a_threshold_that_reads_the_truth(masses, tokens, crowd):
    """A root is split sooner where it truly holds more."""
    splits = (*SPLITS[:-1], SPLITS[-1] - sum(crowd.values()) // 2)
    return walked(masses, tokens.ravel(), splits=splits, first=TREES)


def no_token_left(masses, tokens, crowd):
    """The last token is dropped as well."""
    walk = honest(masses, tokens, crowd)
    return Walk(cut=walk.cut, noisy=walk.cut.masses(masses))


FAULTS = {
    one_token_in_two_cells: {16: 2},
    one_token_kept_and_dropped: {16: 2},
    masses_floored_at_each_look: {0: 1, 16: 1},
    a_threshold_that_reads_the_truth: {16: 2},
    no_token_left: {16: 2},
}


@pytest.mark.parametrize(("fault", "change"), FAULTS.items())
def test_planted_faults_are_seen_in_the_outcomes(fault, change):
    assert worst_outcome(change, fault) > 2**2


def plainly_walked(masses, tokens, *, splits, first):
    """(all looks, all leaves as (level, prefix, noisy mass)), cell by cell and without running sums."""
    mass_of = dict(zip(masses.cells.tolist(), masses.masses.tolist(), strict=True))
    looks, leaves, count = [], [], 4 ** len(splits)

    def visit(level, prefix, own):
        up = 2 * (masses.level - level)
        looks.append(sum(mass for cell, mass in mass_of.items() if cell >> up == prefix) + sum(own))
        if len(own) == 1:
            leaves.append((level, prefix, looks[-1]))
            return
        quarter = len(own) // 4
        if looks[-1] >= splits[quarter.bit_length() // 2] and level < masses.level:
            for number in range(4):
                visit(level + 1, 4 * prefix + number, own[number * quarter : (number + 1) * quarter])
        else:
            visit(level, prefix, own[:quarter])

    for cell in range(4**first):
        visit(first, cell, tokens[cell * count : (cell + 1) * count].tolist())
    return tuple(looks), leaves


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    depth=st.integers(0, 3),
    first=st.integers(0, 1),
    splits=st.lists(st.integers(-2, 8), max_size=3),
    seed=st.integers(0, 10**6),
)
def test_it_walks_as_a_plain_walk_does(depth, first, splits, seed):
    """Also where levels run out: what is finest drops tokens to the last."""
    random = np.random.default_rng(seed)
    cells = np.flatnonzero(random.random(4 ** (first + depth)) < 0.4)
    masses = MassMap(level=first + depth, unit=1, cells=cells, masses=random.integers(1, 5, cells.size))
    tokens = random.integers(-4, 5, 4 ** (first + len(splits)))
    walk = walked(masses, tokens, splits=splits, first=first)
    leaves = zip(walk.cut.levels.tolist(), walk.cut.prefixes.tolist(), walk.noisy.tolist(), strict=True)
    assert list(leaves) == plainly_walked(masses, tokens, splits=splits, first=first)[1]


@pytest.mark.parametrize(("change", "reach"), [({4: 1}, 1), ({4: 1, 0: -1}, 2)])
def test_all_looks_together_tell_no_more(change, reach):
    """Every look is published: all sequences of them at one root with two levels below it and 16 tokens."""
    one = {0: 1, 4: 1, 9: 1}
    other = {cell: one.get(cell, 0) + change.get(cell, 0) for cell in one.keys() | change.keys()}
    laws, leaves_after = ({}, {}), {}
    tokens = vectors((0, 1, 4, 5), 16)
    for crowd, outcomes in zip((one, other), laws, strict=True):
        masses = mass_map(crowd, level=2)
        for own, weight in zip(tokens, weights(tokens), strict=True):
            looks, leaves = plainly_walked(masses, own, splits=(1, 3), first=0)
            leaves_after[looks] = leaves
            outcomes[looks] = outcomes.get(looks, 0.0) + weight
    chosen = [looks for looks, leaves in leaves_after.items() if comparable(leaves, one, other, finest=2)]
    assert worst_ratio(laws, chosen) == 2**reach
    shapes = {tuple(depth for depth, _, _ in leaves_after[looks]) for looks in chosen}
    assert {0, 1, 2} == {max(shape) for shape in shapes}


LABELS = 4**FINEST_FIRST * TOKENS  # the rest of a token, divided by it, is its place


def labelled(scale, first, seed):
    """Tokens as they are drawn, but for their last bits, which tell them apart."""
    drawn = discrete_laplace(SeededSource(seed), scale=scale / LABELS, size=4**first * TOKENS)
    return drawn * LABELS + np.arange(drawn.size)


def exchanged(one, other, tokens, **steps):
    """(walk, the tokens with which the other input gives it, the sum of all changes)."""
    walk = walked(one, tokens, **steps)
    kept = walk.noisy - walk.cut.masses(one)
    places = kept % LABELS
    assert np.array_equal(tokens[places], kept)
    assert np.unique(places).size == places.size
    roots = walk.cut.prefixes >> 2 * (walk.cut.levels - steps["first"])
    assert np.array_equal(places // 4 ** len(steps["splits"]), roots)
    change = walk.cut.masses(one) - walk.cut.masses(other)
    result = tokens.copy()
    result[places] += change
    return walk, result, int(np.abs(change).sum())


def exchange(one, other, tokens, **steps):
    """By how much tokens change in all; to and fro, with the same walk all the while."""
    walk, instead, change = exchanged(one, other, tokens, **steps)
    again, drawn, _ = exchanged(other, one, instead, **steps)
    assert np.array_equal(again.cut.levels, walk.cut.levels)
    assert np.array_equal(again.cut.prefixes, walk.cut.prefixes)
    assert np.array_equal(again.noisy, walk.noisy)
    assert np.array_equal(drawn, tokens)
    return change


def scattered(units, *, level, seed):
    """So many mass units in random cells, in multiples of `LABELS`."""
    random = np.random.default_rng(seed)
    cells = np.unique((4**level * random.beta(0.3, 1, units // LABELS)).astype(np.int64))
    shares = random.multinomial(units // LABELS, random.dirichlet(np.ones(cells.size)))
    return {
        cell: LABELS * share for cell, share in zip(cells.tolist(), shares.tolist(), strict=True) if share
    }


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    level=st.integers(1, 9),
    persons=st.integers(1, 2000),
    replaced=st.booleans(),
    spread=st.integers(1, 40),
    seed=st.integers(0, 10**6),
)
def test_other_tokens_explain_the_same_walk_of_a_neighbour(level, persons, replaced, spread, seed):
    """As many tokens and the thresholds that are in use. The exchange changes tokens by what a person has at
    most, and back again it gives what was drawn: no two vectors of tokens become one."""
    unit, epsilon = spread * LABELS, Fraction(1, 2)
    scale, first = unit / epsilon, first_level(float(persons * epsilon), finest=level)
    crowd = scattered(persons * LABELS, level=level, seed=seed)
    person, instead = (scattered(unit, level=level, seed=seed + number) for number in (1, 2))
    one = added(crowd, person, level=level)
    other = added(crowd, instead if replaced else {}, level=level)
    tokens = labelled(scale, first, seed)
    change = exchange(one, other, tokens, splits=thresholds(scale), first=first)
    assert change <= unit * (2 if replaced else 1)


def added(one, other, *, level):
    units = {cell: one.get(cell, 0) + other.get(cell, 0) for cell in sorted(one.keys() | other.keys())}
    return MassMap(level=level, unit=1, cells=np.array([*units]), masses=np.array([*units.values()]))


def test_sums_of_tokens_that_wrap_around_harm_nothing():
    one, other = (added({5: 2**61, 40: 2**60}, change, level=3) for change in ({6: LABELS}, {}))
    tokens = labelled(Fraction(2**53), 1, SEED)
    tokens += np.where(tokens > 0, 2**61, -(2**61))
    sums = tokens.reshape(4, -1).astype(object).sum(axis=1)
    assert (abs(sums) > 2**63).any()
    assert exchange(one, other, tokens, splits=thresholds(Fraction(2**53)), first=1) == LABELS


def test_a_crowd_everywhere_splits_every_cell_and_each_leaf_has_noise_of_the_whole_scale():
    """16,384 leaves: the exact law, not one of 1.1 times the scale."""
    scale = Fraction(2**24)
    cells = np.arange(4**7)
    masses = MassMap(level=7, unit=2**24, cells=cells, masses=np.full(cells.size, 2**40))
    first, rule = SquareFrontier.first(masses, level=2), splitting(thresholds(scale))
    rng = SeededSource(SEED)
    walk = Walk.of(*walks.token_walk(first, each=TOKENS, scale=scale, branches=4, rule=rule, rng=rng))
    assert (walk.cut.levels == 7).all()
    noise = walk.noisy - 2**40
    assert noise.size == 4**2 * TOKENS
    assert fits(noise, scale)
    assert not fits(noise, scale * 11 / 10)
    assert not fits(noise, scale * 10 / 11)


@pytest.mark.parametrize(
    ("scales", "finest", "level"),
    [(0.001, 8, 1), (100, 8, 1), (120, 8, 1), (136, 8, 2), (1000, 8, 2), (10**6, 8, 2), (1000, 1, 1)],
)
def test_walks_begin_with_4_or_16_cells(scales, finest, level):
    assert first_level(scales, finest=finest) == level


def first_level(scales, *, finest):
    epsilon = Fraction(scales) / 1000
    facts = {"relation": Relation.ADD_REMOVE, "epsilon": epsilon, "expected_persons": 1000}
    return OneWalk(resolution=2**finest, **facts).first_level


@pytest.mark.parametrize("scale", [Fraction(1, 7), Fraction(2**24), Fraction(2**53)])
def test_thresholds_are_whole_and_grow_with_the_noise_of_what_they_are_compared_with(scale):
    least = thresholds(scale)
    assert all(0 < units < 2**63 for units in least)
    assert 4 ** len(least) == TOKENS
    if scale > 1:
        growth = np.array(least[1:]) / least[:-1]
        assert (growth > 2).all()  # of the deviation of four times as many tokens
        assert (growth < 4).all()
