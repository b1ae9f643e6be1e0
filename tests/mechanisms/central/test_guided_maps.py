"""Guided maps of any people by any guide: never an error, always a map in order, in bounded time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive.guided_walk import DEEPEST_FIRST, TOKENS, GuidedWalk
from mechanisms.central.adaptive.mechanism import Adaptive
from mechanisms.evaluation.earth_mover import block_sums
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.guide import SIDE, Guide
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import morton_encode
from tests.mechanisms.examples import SEED, crowd, masses_for

GUIDES = ("one cell", "even", "two corners", "tiny differences", "few")


def guide_of(name, random):
    values = np.zeros((SIDE, SIDE))
    if name == "one cell":
        values[tuple(random.integers(0, SIDE, 2))] = 1e-300
    elif name == "even":
        values[:] = 1e300
    elif name == "two corners":
        values[0, 0] = values[-1, -1] = 1
    elif name == "tiny differences":
        values[:] = 1 + 1e-9 * random.random((SIDE, SIDE))
    else:
        values = random.random((SIDE, SIDE)) ** 30
    return Guide.of_values(values)


def adaptive(relation, *, level=6, scales=200, guide=None):
    persons = 200
    epsilon = Fraction(scales * (2 if relation is Relation.REPLACE else 1), persons)
    return Adaptive(
        relation=relation, epsilon=epsilon, resolution=2**level, expected_persons=persons, guide=guide
    )


def people(name, mechanism, random):
    last = mechanism.resolution**2 - 1
    if name == "everywhere":
        cells = np.unique(random.integers(0, last + 1, 300))
        return masses_for(mechanism, dict.fromkeys(cells.tolist(), 7))
    crowds = {"none": {}, "one": {last // 2: 1}, "in one cell": {last: 10_000}, "many": {0: 2**40}}
    return whole_persons(mechanism, crowds[name])


def whole_persons(mechanism, persons):
    """As many of 2^40 as the unit leaves room for."""
    cells = np.array(sorted(persons), np.int64)
    most = (2**62 - 1) // mechanism.unit
    masses = np.array([min(persons[cell], most) * mechanism.unit for cell in cells.tolist()], np.int64)
    level = mechanism.resolution.bit_length() - 1
    return MassMap(level=level, unit=mechanism.unit, cells=cells, masses=masses)


FACTS = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(Relation),
        "level": st.sampled_from([1, 2, 5, 7, 8, 16]),
        "scales": st.sampled_from([100, 300, 1000]),
        "guide": st.sampled_from(GUIDES),
        "people": st.sampled_from(["none", "one", "in one cell", "many", "everywhere"]),
        "seed": st.integers(0, 10**6),
    }
)


class Counting(SeededSource):
    """Counts the words that are drawn."""

    drawn = 0

    def words(self, count):
        Counting.drawn += count
        return super().words(count)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(facts=FACTS)
def test_any_people_and_any_guide_make_a_map(facts):
    """Twice: the second one goes on from the first."""
    random = np.random.default_rng(facts["seed"])
    plain = adaptive(facts["relation"], level=facts["level"], scales=facts["scales"])
    mechanism = replace(plain, guide=guide_of(facts["guide"], random))
    masses = people(facts["people"], mechanism, random)
    for turn in range(2):
        assert mechanism.guarantee == plain.guarantee
        Counting.drawn = 0
        heatmap = mechanism.release(masses, Counting(facts["seed"] + turn))
        assert Counting.drawn < 8 * 2**DEEPEST_FIRST * TOKENS
        in_order(heatmap)
        (only,) = mechanism.measure(masses, SeededSource(facts["seed"] + turn))
        assert only.cells.nodes.depths.size <= 2**DEEPEST_FIRST * TOKENS
        mechanism = replace(mechanism, guide=Guide.of_map(heatmap, same_people=True))


def in_order(heatmap):
    for numbers in (heatmap.values, heatmap.lows, heatmap.highs, heatmap.standard_errors):
        assert np.isfinite(numbers).all()
        assert (numbers >= 0).all()
    assert (heatmap.lows <= heatmap.values).all()
    assert (heatmap.values <= heatmap.highs).all()
    assert np.isfinite([heatmap.total, heatmap.total_error]).all()
    finest = heatmap.level
    starts = heatmap.prefixes << 2 * (finest - heatmap.levels.astype(np.int64))
    sizes = np.int64(1) << 2 * (finest - heatmap.levels.astype(np.int64))
    assert starts[0] == 0
    assert np.array_equal(starts[1:], (starts + sizes)[:-1])
    assert int((starts + sizes)[-1]) == 4**finest
    assert Heatmap.from_bytes(heatmap.to_bytes()).to_bytes() == heatmap.to_bytes()


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", GUIDES)
def test_guided_walks_cost_epsilon_exactly(relation, name):
    guide = guide_of(name, np.random.default_rng(1))
    mechanism = adaptive(relation, guide=guide)
    assert type(mechanism.rounds) is GuidedWalk
    assert mechanism.guarantee.loss(INFINITY) == mechanism.epsilon
    (scale,) = mechanism.rounds.round_scales
    reach = mechanism.unit * (2 if relation is Relation.REPLACE else 1)
    assert mechanism.epsilon * (1 - Fraction(1, 10**9)) <= reach / scale <= mechanism.epsilon
    (only,) = mechanism.measure(crowd(mechanism, cells=30, persons=200), SeededSource(SEED))
    assert only.epsilon == mechanism.epsilon
    cells = np.arange(4**6)
    assert np.bincount(only.cells.holding(cells, level=6)).min() > 0  # disjoint: each cell in one of them


def test_a_right_guide_is_better_than_its_mirror_images():
    """Means of 20 maps of people in a few places, by distance of shares in 16 × 16 blocks."""
    plain = adaptive(Relation.ADD_REMOVE, scales=200)
    random = np.random.default_rng(SEED)
    centres = random.integers(0, SIDE, (5, 2))
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    town = sum(np.exp(-((rows - r) ** 2 + (columns - c) ** 2) / 8.0) for r, c in centres)
    guides = [
        Guide.of_values(np.ascontiguousarray(values)) for values in (town, town[::-1], town[:, ::-1], town.T)
    ]
    errors = np.zeros(len(guides))
    for seed in range(20):
        counts = np.random.default_rng(seed).multinomial(200, (town / town.sum()).ravel()).reshape(SIDE, SIDE)
        masses, truth = people_at(plain, counts), block_sums(counts / counts.sum(), 16)
        for number, guide in enumerate(guides):
            found = replace(plain, guide=guide).release(masses, SeededSource(seed)).dense()
            errors[number] += np.abs(block_sums(found, 16) - truth).sum()
    assert errors[0] < 0.92 * errors[1:].min()


def people_at(mechanism, counts):
    """counts: (64, 64) persons, row 0 north."""
    rows, columns = np.nonzero(counts)
    cells = morton_encode(columns, SIDE - 1 - rows, 6)
    return masses_for(mechanism, dict(zip(cells.tolist(), counts[rows, columns].tolist(), strict=True)))
