"""The audit must stay below honest claims and above false ones.

Power, at epsilon 2 and significance 1e-6: with 4,000 draws a side (2,000 of them held out) an event of
probability 1/4 against exp(-10/3)/4 is bounded above 2; the faults below cost at least 10/3. Honest
mechanisms are bounded above 0.7, so the bound is no idle 0. At epsilon 1 the same takes 40,000 draws.
"""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.audit import audit, neighbours, private_part, released_masses
from mechanisms.calibration import noise_scale
from mechanisms.catalogue import get
from mechanisms.central.laplace import Laplace
from mechanisms.central.laplace_top import LaplaceTop
from mechanisms.central.sparse_emd import SparseEmd
from mechanisms.check import ParameterError
from mechanisms.experiments.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from tests.mechanisms.examples import SEED, make

QUICK, LONG = 4_000, 20_000
SMALL = {
    "laplace": {"resolution": 4},
    "laplace-top": {"resolution": 4, "keep_percent": 50},
    "sparse-emd": {"resolution": 8, "width": 16, "decay": Fraction(1, 2)},
}


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


class SparseAsIfAdded(SparseEmd):
    __slots__ = ()

    @property
    def level_scales(self):
        return tuple(noise_scale(Relation.ADD_REMOVE, part, self.unit) for part in self.level_epsilons)


def lower_bound(mechanism, draws=QUICK, seed=SEED, draw_of=private_part):
    return audit(draw_of(mechanism), *neighbours(mechanism), SeededSource(seed), draws=draws).epsilon


def small(name, relation, epsilon=2):
    return make(name, relation=relation, epsilon=epsilon, **SMALL[name])


def faulty(kind, relation, epsilon=2):
    return kind(relation=relation, epsilon=Fraction(epsilon), **SMALL[kind.name])


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", SMALL)
def test_honest_mechanisms_stay_below_their_claim(name, relation):
    mechanism = small(name, relation)
    bound = lower_bound(mechanism)
    assert bound <= mechanism.guarantee.loss(INFINITY)
    assert bound > 0.7  # the audit does see the person


FAULTS = [
    (HalfNoise, Relation.ADD_REMOVE),
    (HalfNoiseTop, Relation.REPLACE),
    (AlwaysAsIfAdded, Relation.REPLACE),
    (ForgottenLevel, Relation.ADD_REMOVE),
]


@pytest.mark.parametrize(("kind", "relation"), FAULTS)
def test_planted_faults_are_caught(kind, relation):
    mechanism = faulty(kind, relation)
    claim = mechanism.guarantee.loss(INFINITY)
    assert claim == 2  # the fault is not in what it says
    assert lower_bound(mechanism) > claim


@pytest.mark.long
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", SMALL)
def test_honest_mechanisms_stay_below_their_claim_in_many_draws(name, relation, epsilon):
    mechanism = small(name, relation, epsilon)
    bound = lower_bound(mechanism, LONG)
    assert 0.6 * float(epsilon) - 0.25 < bound <= mechanism.guarantee.loss(INFINITY)


@pytest.mark.long
@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("width", [4, 20])
def test_the_finished_map_of_sparse_emd_stays_below_its_claim(width, relation):
    # Two and three levels and the linear programme: what an analyst really sees.
    mechanism = make("sparse-emd", relation=relation, epsilon=2, resolution=8, width=width)
    assert lower_bound(mechanism, LONG // 5, draw_of=released_masses) <= 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        *FAULTS,
        (HalfNoise, Relation.REPLACE),
        (HalfNoiseTop, Relation.ADD_REMOVE),
        (ForgottenLevel, Relation.REPLACE),
        (SparseAsIfAdded, Relation.REPLACE),
    ],
)
def test_planted_faults_are_caught_at_epsilon_1_in_many_draws(kind, relation):
    assert lower_bound(faulty(kind, relation, epsilon=1), 2 * LONG) > 1


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
    assert {get(name).name for name in SMALL} == set(SMALL) >= {kind.name for kind, _ in FAULTS}
