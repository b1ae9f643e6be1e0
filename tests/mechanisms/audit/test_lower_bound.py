"""The audit must stay below honest claims and above false ones.

Power, at epsilon 2 and significance 1e-6: with 4,000 draws a side (2,000 of them held out) an event of
probability 1/4 against exp(-10/3)/4 is bounded above 2; the faults below cost at least 10/3. Honest
mechanisms are bounded above 0.7, so the bound is no idle 0. A million draws at epsilon 1, where faults are
harder to see: test_million_draws.py.
"""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.audit.lower_bound import audit, guided, neighbours, private_part, released_masses
from mechanisms.calibration import noise_scale
from mechanisms.catalogue.registry import get
from mechanisms.central.adaptive.boxes import Boxes, Rectangles
from mechanisms.central.adaptive.guided_walk import GuidedWalk
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.one_walk import GROWTH, TOKENS, WORTH, OneWalk
from mechanisms.central.adaptive.quadtree_cut import Cut, refined
from mechanisms.central.adaptive.rounds import NoisyRound, NoisyRounds
from mechanisms.central.adaptive.token_walk import SquareFrontier, Worth, walked
from mechanisms.central.adaptive.two_rounds import TwoRounds
from mechanisms.central.grid_laplace.laplace import Laplace
from mechanisms.central.grid_laplace.laplace_top import LaplaceTop
from mechanisms.central.privtree.mechanism import PrivTree
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.samplers.discrete_laplace import discrete_laplace
from tests.mechanisms.examples import SEED, in_turn, make

USUAL = 4_000  # draws
SMALL = {
    "adaptive": {"resolution": 4, "expected_persons": 30},  # one walk
    "privtree": {"resolution": 4, "tree_percent": Fraction(50)},
    "laplace": {"resolution": 4},
    "laplace-top": {"resolution": 4, "keep_percent": 50},
    "sparse-emd": {"resolution": 8, "width": 16, "decay": Fraction(1, 2)},
}
# `adaptive` in two rounds, at epsilon 2 of either relation.
ABOVE = {"resolution": 4, "expected_persons": 2000}
# Of mechanisms that spread their budget over several looks at a person, the audit sees a smaller part.
SEEN = {"adaptive": 0.4, "privtree": 0.25}
# The linear programme of a finished map takes milliseconds. A thousand draws a side bound an event of
# probability 1/2 against 1/250 above 2: a map that tells of more than was measured, not half the noise, which
# the audits of the measurements look for.
OF_MAPS = 1_000
FINISHED = {"resolution": 8, "width": 20}
FEWER = {"adaptive": 1_000}  # draws, of thousands of tokens each


class HalfNoise(Laplace):
    __slots__ = ()

    @property
    def scale(self):
        return Laplace.scale.fget(self) / 2


class HalfNoiseTop(LaplaceTop):
    __slots__ = ()

    @property
    def scale(self):
        return LaplaceTop.scale.fget(self) / 2


class AlwaysAsIfAdded(Laplace):
    """Forgets that replacing a record takes one mass away and brings another."""

    __slots__ = ()

    @property
    def scale(self):
        return noise_scale(Relation.ADD_REMOVE, self.epsilon, self.unit)


class ForgottenLevel(SparseEmd):
    """The finest level gets a budget of its own instead of its share: 2/3 + 1 in all."""

    __slots__ = ()

    @property
    def level_scales(self):
        return (*SparseEmd.level_scales.fget(self)[:-1], noise_scale(self.relation, self.epsilon, self.unit))


class MapThatPeeks(SparseEmd):
    """Its finished map is empty in squares where truly nobody is."""

    __slots__ = ()

    def release(self, masses, rng):
        heatmap = SparseEmd.release(self, masses, rng)
        true = masses.interval_sums().within(heatmap.levels.astype(np.int64), heatmap.prefixes)
        return replace(heatmap, values=np.where(true > 0, heatmap.values, 0.0))


class QuietWalk(OneWalk):
    """Leaves get the noise of twice the budget."""

    __slots__ = ()

    @property
    def round_scales(self):
        return tuple(scale / 2 for scale in OneWalk.round_scales.fget(self))


class WalkAsIfAdded(OneWalk):
    __slots__ = ()

    @property
    def round_scales(self):
        return (noise_scale(Relation.ADD_REMOVE, self.epsilon, self.unit),)


class WalkThatPeeks(OneWalk):
    """Cells are split that truly hold two persons and a half, instead of those that seem to hold much."""

    __slots__ = ()

    def measure(self, masses, rng):
        least = 5 * self.unit // 2
        leaves, true = walked_squares(
            masses, np.zeros(4 * TOKENS, np.int64), lambda _, looks, __: looks >= least
        )
        noise = discrete_laplace(rng, scale=self.round_scales[0], size=true.size)
        return (NoisyRound(cells=leaves, noisy=true + noise, epsilon=self.epsilon),)


class WalkWithOneTokenTwice(OneWalk):
    """All cells get the same tokens."""

    __slots__ = ()

    def measure(self, masses, rng):
        scale = self.round_scales[0]
        tokens = np.tile(discrete_laplace(rng, scale=scale, size=TOKENS), 4)
        rule = Worth(scales=WORTH, growth=GROWTH, branches=4, scale=scale)
        leaves, noisy = walked_squares(masses, tokens, rule)
        return (NoisyRound(cells=leaves, noisy=noisy, epsilon=self.epsilon),)


class QuietGuidedWalk(GuidedWalk):
    """Leaves get the noise of twice the budget."""

    __slots__ = ()

    @property
    def round_scales(self):
        return tuple(scale / 2 for scale in GuidedWalk.round_scales.fget(self))


class GuidedWalkAsIfAdded(GuidedWalk):
    __slots__ = ()

    @property
    def round_scales(self):
        return (noise_scale(Relation.ADD_REMOVE, self.epsilon, self.unit),)


class GuidedWalkThatPeeks(GuidedWalk):
    """Rectangles are split that truly hold a person in more than one place."""

    __slots__ = ()

    def measure(self, masses, rng):
        first = Boxes.first(masses, self.tree, depth=2, is_doubted=False)
        nothing = np.zeros(4 * 16, np.int64)
        leaves, true = walked(
            first, nothing, branches=2, rule=lambda _nodes, looks, _tokens: looks >= self.unit
        )
        noise = discrete_laplace(rng, scale=self.round_scales[0], size=true.size)
        nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
        cells = Rectangles(tree=leaves.tree, nodes=nodes)
        return (NoisyRound(cells=cells, noisy=(true + noise)[order], epsilon=self.epsilon),)


def walked_squares(masses, tokens, rule):
    """(leaves below the four largest squares, what is measured there)."""
    leaves, noisy = walked(SquareFrontier.first(masses, level=1), tokens, branches=4, rule=rule)
    nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
    return Cut.of_nodes(nodes), noisy[order]


class PeekingCut(TwoRounds):
    """The second cut splits what truly holds three persons instead of what seems to."""

    __slots__ = ()

    def measure(self, masses, rng):
        first = self._round(0, Cut.grid(self.first_level), masses, rng)
        truth = first.cells.masses(masses) / self.unit
        cut = refined(first.cells, truth, most=np.full(self.level, 2.5), limit=64)
        return first, self._round(1, cut, masses, rng)


class QuietLeaves(PrivTree):
    """Leaves get a fifth of their noise."""

    __slots__ = ()

    @property
    def leaf_scale(self):
        return PrivTree.leaf_scale.fget(self) / 5


class SparseAsIfAdded(SparseEmd):
    __slots__ = ()

    @property
    def level_scales(self):
        return tuple(noise_scale(Relation.ADD_REMOVE, part, self.unit) for part in self.level_epsilons)


def lower_bound(mechanism, draws=USUAL, seed=SEED, draw_of=private_part):
    return audit(draw_of(mechanism), *neighbours(mechanism), SeededSource(seed), draws=draws).epsilon


def small(name, relation, epsilon=2):
    return make(name, relation=relation, epsilon=epsilon, **SMALL[name])


def faulty(kind, relation, epsilon=2):
    parameters = SMALL["adaptive" if issubclass(kind, NoisyRounds) else kind.name]
    return kind(relation=relation, epsilon=Fraction(epsilon), **parameters)


HONEST = in_turn(SMALL, lambda _name: Relation, long={"privtree"})  # whose draws take milliseconds


@pytest.mark.parametrize(("name", "relation"), HONEST)
def test_honest_mechanisms_stay_below_their_claim(name, relation):
    mechanism = small(name, relation)
    bound = lower_bound(mechanism, FEWER.get(name, USUAL))
    assert bound <= mechanism.guarantee.loss(INFINITY)
    assert bound > SEEN.get(name, 0.7)  # the audit does see the person


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
def test_two_rounds_stay_below_their_claim(relation):
    mechanism = make("adaptive", relation=relation, epsilon=2, **ABOVE)
    assert isinstance(mechanism.rounds, TwoRounds)
    assert 0.1 < lower_bound(mechanism, USUAL // 4) <= 2  # it infers between its rounds: fewer draws


@pytest.mark.parametrize("name", SMALL)
def test_maps_follow_from_what_is_audited(name, monkeypatch):
    """Whatever the data are: given the same noisy masses, the same map."""
    mechanism = small(name, Relation.ADD_REMOVE)
    one, other = neighbours(mechanism)
    measured = mechanism.measure(one, SeededSource(SEED))
    measures = type(mechanism.rounds) if name == "adaptive" else type(mechanism)
    monkeypatch.setattr(measures, "measure", lambda *_arguments: measured)
    maps = [mechanism.release(masses, SeededSource(SEED)).to_bytes() for masses in (one, other)]
    assert maps[0] == maps[1]


FAULTS = [
    (HalfNoise, Relation.ADD_REMOVE),
    (HalfNoiseTop, Relation.REPLACE),
    (AlwaysAsIfAdded, Relation.REPLACE),
    (ForgottenLevel, Relation.ADD_REMOVE),
    (SparseAsIfAdded, Relation.REPLACE),
    (QuietWalk, Relation.ADD_REMOVE),
    (WalkAsIfAdded, Relation.REPLACE),
    (WalkThatPeeks, Relation.ADD_REMOVE),
    (WalkWithOneTokenTwice, Relation.ADD_REMOVE),
    (PeekingCut, Relation.ADD_REMOVE),
    (QuietLeaves, Relation.ADD_REMOVE),
]
SLOW = {PeekingCut, QuietLeaves, QuietWalk, WalkAsIfAdded, WalkThatPeeks, WalkWithOneTokenTwice}


@pytest.mark.parametrize(
    ("kind", "relation"),
    [pytest.param(*fault, marks=[pytest.mark.long] * (fault[0] in SLOW)) for fault in FAULTS],
)
def test_planted_faults_are_caught(kind, relation):
    mechanism = faulty(kind, relation)
    claim = mechanism.guarantee.loss(INFINITY)
    assert claim == 2  # the fault is not in what it says
    assert lower_bound(mechanism) > claim


def small_guided(relation):
    return guided(make("adaptive", relation=relation, epsilon=2, resolution=8, expected_persons=30))


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
def test_guided_walks_stay_below_their_claim(relation):
    mechanism = small_guided(relation)
    assert isinstance(mechanism.rounds, GuidedWalk)
    assert 0.1 < lower_bound(mechanism, 500) <= mechanism.guarantee.loss(INFINITY) == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        (QuietGuidedWalk, Relation.ADD_REMOVE),
        (GuidedWalkAsIfAdded, Relation.REPLACE),
        (GuidedWalkThatPeeks, Relation.ADD_REMOVE),
    ],
)
def test_planted_faults_of_guided_walks_are_caught(kind, relation):
    honest = small_guided(relation).rounds
    faulty = kind(**{field.name: getattr(honest, field.name) for field in fields(GuidedWalk)})
    assert faulty.epsilon == 2
    assert lower_bound(faulty, USUAL // 2) > 2


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("epsilon", "persons"), [(1, 30), (1, 300), (20, 10**6), ("0.001", 1), (3, 33)])
def test_a_guide_is_audited_with_people_that_allow_one(relation, epsilon, persons):
    mechanism = make("adaptive", relation=relation, epsilon=epsilon, expected_persons=persons)
    found = guided(mechanism)
    assert found.guide is not None
    assert found.guarantee == mechanism.guarantee


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", SMALL)
def test_honest_mechanisms_stay_below_their_claim_at_epsilon_4(name, relation):
    mechanism = small(name, relation, epsilon=4)
    assert SEEN.get(name, 0.5) * 4 - 0.25 < lower_bound(mechanism) <= mechanism.guarantee.loss(INFINITY)


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
def test_the_finished_map_of_sparse_emd_stays_below_its_claim(relation):
    # Two and three levels and the linear programme: what an analyst really sees.
    mechanism = make("sparse-emd", relation=relation, epsilon=2, **FINISHED)
    assert lower_bound(mechanism, OF_MAPS, draw_of=released_masses) <= 2


@pytest.mark.long
def test_a_finished_map_that_peeks_is_caught():
    honest = make("sparse-emd", relation=Relation.ADD_REMOVE, epsilon=2, **FINISHED)
    mechanism = MapThatPeeks(**{field.name: getattr(honest, field.name) for field in fields(honest)})
    assert lower_bound(mechanism, OF_MAPS, draw_of=released_masses) > 2


def test_the_bound_holds_for_a_law_with_known_loss():
    # Randomised response with odds 3: the loss is log 3; nothing is learned from the other feature.
    def draw(masses, rng):
        coin = rng.words(2) % np.uint64(4)
        truth = masses.cells.size == 4
        return np.array([truth if coin[0] else not truth, coin[1]], dtype=float)

    mechanism = small("laplace", Relation.ADD_REMOVE)
    bound = audit(draw, *neighbours(mechanism), SeededSource(SEED), draws=20_000)
    assert 0.85 * np.log(3) < bound.epsilon < np.log(3)
    assert (bound.draws, bound.confidence) == (20_000, 1 - 1e-6)
    eased = audit(draw, *neighbours(mechanism), SeededSource(SEED), draws=20_000, delta=0.25)
    assert 0.7 * np.log(2) < eased.epsilon < np.log(2)  # (3/4 - 1/4) / (1/4)


def test_equal_inputs_give_no_loss():
    mechanism = small("laplace", Relation.ADD_REMOVE)
    one, _ = neighbours(mechanism)
    assert audit(private_part(mechanism), one, one, SeededSource(SEED), draws=1000).epsilon == 0


@pytest.mark.parametrize("name", SMALL)
def test_neighbours_are_as_far_apart_as_the_relation_allows(name):
    for relation, persons in ((Relation.ADD_REMOVE, 1), (Relation.REPLACE, 2)):
        mechanism = small(name, relation)
        vectors = []
        for masses in neighbours(mechanism):
            vector = np.zeros(mechanism.resolution**2, np.int64)
            vector[masses.cells] = masses.masses
            vectors.append(vector)
        assert np.abs(vectors[0] - vectors[1]).sum() == persons * mechanism.unit
        assert (vectors[0].sum() == vectors[1].sum()) == (relation is Relation.REPLACE)


def test_too_few_draws_are_refused():
    mechanism = small("laplace", Relation.ADD_REMOVE)
    with pytest.raises(ParameterError, match="draws"):
        audit(private_part(mechanism), *neighbours(mechanism), SeededSource(SEED), draws=99)


def test_every_mechanism_of_the_catalogue_is_audited():
    assert {get(name).name for name in SMALL} == set(SMALL)
    assert set(SMALL) >= {kind.name for kind, _ in FAULTS if not issubclass(kind, NoisyRounds)}
