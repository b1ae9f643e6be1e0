"""The sparse map by shuffled shares: samplers, split and mix, the round, and its law."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare, norm

from mechanisms.audit.lower_bound import bound_of_runs
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.check import ParameterError
from mechanisms.evaluation.earth_mover import emd
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation, Trust
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.clustered_polya import clustered_polya, log_series
from mechanisms.shuffle.emd_round import EmdRound
from mechanisms.shuffle.shuffle_emd import ShuffleEmd
from mechanisms.shuffle.split_and_mix import (
    communication_bits,
    printed_shares,
    shuffle_shares,
    split,
    sums,
    view_distance,
)
from tests.mechanisms.examples import SEED, true_dense

PERSONS = 50
ALMOST_NEVER = 1e-6


def law(epsilon="5", resolution=16, parts=256):
    return ShuffleEmd(
        relation=Relation.REPLACE, epsilon=Fraction(epsilon), resolution=resolution, parts=parts
    )


def small_round(epsilon="5", delta="0.01", **options):
    return EmdRound.calibrate(law(epsilon, **options), delta=Fraction(delta), persons=PERSONS)


# --- samplers ---


@pytest.mark.parametrize("scale", ["3/2", "200"])
def test_clusters_follow_the_logarithmic_law(scale):
    # 100,000 draws; a scale a tenth too large or small, or a shift by one, is rejected.
    scale = Fraction(scale)
    drawn = log_series(SeededSource(SEED), scale=scale, size=100_000)
    ends = np.array([1, 2, 3, 5, 10, 20, 40, 80, 160, 320, 640, 10_000])
    k = np.arange(1, 10_001)

    def p_value(scale, drawn):
        upto = np.cumsum(np.exp(-k / scale) / k / -math.log(-math.expm1(-1 / scale)))[ends - 1]
        expected = 100_000 * np.diff(upto, prepend=0)
        seen = np.diff([(drawn <= end).sum() for end in ends], prepend=0)
        likely = expected > 5
        return chisquare(seen[likely], expected[likely], sum_check=False).pvalue

    assert p_value(float(scale), drawn) > ALMOST_NEVER
    assert p_value(float(scale) * 0.9, drawn) < ALMOST_NEVER
    assert p_value(float(scale) * 1.1, drawn) < ALMOST_NEVER
    assert p_value(float(scale), drawn + 1) < ALMOST_NEVER
    assert log_series(SeededSource(SEED), scale=Fraction(1, 16), size=1000).max() == 1


def test_shares_of_the_noise_sum_to_a_geometric_number():
    # 40,000 sums at nine quantiles: a tenth more or less of the scale moves the middle ones by 7 deviations.
    scale, count = Fraction(300), 40_000
    drawn = clustered_polya(SeededSource(SEED), shape=Fraction(1, 10), scale=scale, size=10 * count)
    total = drawn.reshape(count, 10).sum(axis=1)

    def farthest(scale):
        found = []
        for share in np.arange(0.1, 1, 0.1):
            at = int(-scale * math.log(1 - share))
            below = -math.expm1(-(at + 1) / scale)
            found.append(abs((total <= at).mean() - below) / math.sqrt(below * (1 - below) / count))
        return max(found)

    limit = norm.isf(ALMOST_NEVER / 18)
    assert farthest(300) < limit
    assert farthest(270) > limit
    assert farthest(330) > limit
    assert clustered_polya(SeededSource(1), shape=Fraction(1), scale=Fraction(2), size=0).size == 0
    for shape, wrong in ((Fraction(3, 2), scale), (Fraction(1, 2), Fraction(1, 3))):
        with pytest.raises(ParameterError):
            clustered_polya(SeededSource(1), shape=shape, scale=wrong, size=1)


# --- split and mix ---


def test_shares_are_uniform_and_sum_to_the_value_and_every_one_is_shuffled():
    values = np.tile(np.array([[0, 5, 15]], np.uint64), (200, 1))
    shares = split(values, SeededSource(SEED), modulus=16, shares=4)
    assert shares.shape == (200, 3, 4)
    assert np.array_equal(shares.sum(axis=2) & np.uint64(15), values)
    for place in range(4):
        seen = np.bincount(shares[:, :, place].ravel().astype(int), minlength=16)
        assert chisquare(seen).pvalue > ALMOST_NEVER
    mixed = shuffle_shares(shares, SeededSource(SEED))
    assert mixed.shape == (3, 800)
    for place in range(3):
        assert np.array_equal(np.sort(mixed[place]), np.sort(shares[:, place].ravel()))
    assert np.array_equal(sums(mixed, modulus=16), (200 * np.array([0, 5, 15])) % 16)
    # Where the first share of the first person goes: uniform over all places, in every coordinate.
    marked = np.zeros((5, 400, 4), np.uint64)
    marked[0, :, 0] = 1
    at = shuffle_shares(marked, SeededSource(SEED)).argmax(axis=1)
    assert chisquare(np.bincount(at, minlength=20)).pvalue > ALMOST_NEVER


def exact_distance(persons, shares):
    """The largest total variation between views of two inputs of one sum modulo 2, by going through all."""
    free = np.array(list(product((0, 1), repeat=persons * (shares - 1))), np.int8)
    free = free.reshape(len(free), persons, shares - 1)
    views = {}
    for inputs in product((0, 1), repeat=persons):
        last = (np.array(inputs) + free.sum(axis=2)) % 2
        ones = free.sum(axis=(1, 2)) + last.sum(axis=1)  # of bits a shuffler shows no more than their number
        views[inputs] = np.bincount(ones, minlength=persons * shares + 1) / len(free)
    return max(
        np.abs(views[one] - views[other]).sum() / 2
        for one in views
        for other in views
        if sum(one) % 2 == sum(other) % 2
    )


@pytest.mark.parametrize(("persons", "shares"), [(2, 4), (2, 8), (3, 4), (3, 5), (4, 4)])
def test_the_bound_on_what_the_shuffler_shows_holds(persons, shares):
    bound = view_distance(persons=persons, modulus=2, shares=shares)
    exact = exact_distance(persons, shares)
    assert exact <= bound
    if persons == 2 and shares == 8:
        assert 0 < bound < 0.5  # not a bound of 1 throughout


def test_more_persons_and_shares_show_less():
    few, many = (view_distance(persons=persons, modulus=2**20, shares=10) for persons in (20, 200))
    assert many < few < view_distance(persons=20, modulus=2**20, shares=8) <= 1


# --- the round ---


def crowd_of_devices(level, count=PERSONS):
    """(persons, cells, shares): each with one or two cells among a few; their shares sum to 1."""
    random = np.random.default_rng(SEED)
    places = random.choice(4**level, 16, replace=False)
    one, two = (places[random.choice(16, count, p=random.dirichlet(np.ones(16)))] for _ in range(2))
    share, persons = random.uniform(0.4, 1, count), np.arange(count)
    return np.tile(persons, 2), np.concatenate((one, two)), np.concatenate((share, 1 - share))


def summed(cells, shares, mechanism):
    level = mechanism.resolution.bit_length() - 1
    total = np.zeros(4**level, np.int64)
    np.add.at(total, cells, np.floor(shares * mechanism.unit).astype(np.int64))
    there = np.flatnonzero(total)
    return MassMap(level=level, unit=mechanism.unit, cells=there, masses=total[there])


def test_without_noise_the_round_counts_exactly():
    protocol = small_round()
    persons, cells, shares = crowd_of_devices(4)
    vectors = protocol.vectors(persons, cells, np.floor(256 * shares).astype(np.int64), count=PERSONS)
    assert vectors.shape == (PERSONS, 16 + 64 + 256)
    assert vectors[:, -256:].sum(axis=1).min() >= 255
    assert np.array_equal(vectors[:, :16].sum(axis=1), vectors[:, -256:].sum(axis=1))
    rng = SeededSource(SEED)
    shuffled = protocol.shuffle(protocol.split(vectors.astype(np.uint64), rng), rng)
    assert np.array_equal(protocol.noisy_masses(shuffled), vectors.sum(axis=0))
    assert protocol.analyse(shuffled).values.sum() == pytest.approx(PERSONS, rel=0.01)


def test_fewer_than_the_declared_honest_participants_publish_nothing():
    protocol = small_round()
    shares = np.zeros((PERSONS, 3, protocol.shares), np.uint64)
    assert protocol.shuffle(shares, SeededSource(1)) is not None
    assert protocol.shuffle(shares, SeededSource(1), honest=PERSONS - 1) is None
    assert protocol.shuffle(shares[1:], SeededSource(1)) is None
    assert protocol.shuffle(np.concatenate((shares, shares)), SeededSource(1)) is None  # beyond the modulus


def test_what_it_promises():
    protocol, stored = small_round("5", "0.00001"), law()
    guarantee = protocol.guarantee
    assert (guarantee.trust, guarantee.delta) == (Trust.SHUFFLE, Fraction(1, 10**5))
    assert guarantee.loss(INFINITY) == 5
    assert guarantee.if_shuffler_fails.loss(INFINITY) == INFINITY
    assert protocol.spent_delta <= 1e-5
    with pytest.raises(ParameterError, match="shares"):
        EmdRound(
            law=stored,
            delta=Fraction(1, 10**5),
            persons=PERSONS,
            capacity=PERSONS,
            shares=protocol.shares - 1,
        )
    assert stored.guarantee.simulated
    assert (stored.guarantee.trust, stored.guarantee.delta) == (Trust.CENTRAL, 0)
    with pytest.raises(ParameterError, match="relation"):
        ShuffleEmd(relation=Relation.ADD_REMOVE, epsilon=Fraction(1), resolution=16)


def test_communication_is_what_the_formula_says():
    protocol = small_round("5", "0.00001")
    vectors = np.zeros((PERSONS, protocol.coordinates), np.int64)
    rng = SeededSource(SEED)
    shares = protocol.split(protocol.randomise(vectors, rng), rng)
    messages = np.arange(protocol.coordinates)[:, np.newaxis] * protocol.modulus + shares[0].astype(int)
    bits = math.ceil(math.log2(protocol.coordinates * protocol.modulus))
    assert messages.max() < 2**bits
    assert messages.size * bits == protocol.bits
    # As printed, for images of 320 × 240 with all coarser levels: "approximately 10MB".
    pixels = sum(320 * 240 // 4**level for level in range(9))
    q = 256 * 50
    printed = printed_shares(persons=50, epsilon=5, delta=1e-5, coordinates=pixels, modulus=q)
    assert printed == 18
    assert 7e6 < communication_bits(shares=printed, coordinates=pixels, modulus=q) / 8 < 10e6


class PrintedNoise(ShuffleEmd):
    """Noise as if masses were not in parts."""

    __slots__ = ()

    @property
    def level_scales(self):
        return tuple(Fraction(math.ceil(16 * s / self.parts), 16) for s in ShuffleEmd.level_scales.fget(self))


class AsIfAdded(ShuffleEmd):
    __slots__ = ()

    @property
    def level_scales(self):
        return tuple(Fraction(math.ceil(8 * s), 16) for s in ShuffleEmd.level_scales.fget(self))


EPSILON = "8.8"  # of which the finest level has 2


def lower_bound(kind, draws=4_096, honest=PERSONS):
    """Of the finest level's noise: cells in pairs, a person is in the first or in the second of each.

    One round has 128 pairs, whose noise is independent. Power as in test_audit.py.
    """
    found = kind(relation=Relation.REPLACE, epsilon=Fraction(EPSILON), resolution=16, parts=256)
    protocol = EmdRound.calibrate(found, delta=Fraction(1, 100), persons=PERSONS)
    claim = float(found.epsilon) * 0.2265  # γ² / (1 + γ + γ²)
    rounds, runs = draws // 128, []
    for first in (True, False):
        inputs = np.zeros((PERSONS, protocol.coordinates), np.int64)
        inputs[0, -256:] = np.tile([256, 0] if first else [0, 256], 128)
        rng = SeededSource(SEED + first)
        for _ in range(rounds):
            noisy = protocol.randomise(inputs, rng)[:honest].sum(axis=0) & np.uint64(protocol.modulus - 1)
            runs.append(protocol.noisy_masses(noisy[:, np.newaxis])[-256:].reshape(128, 2) / 256)
    return bound_of_runs(np.concatenate(runs[:rounds]), np.concatenate(runs[rounds:])).epsilon, claim


def test_the_finest_level_costs_what_it_says():
    bound, claim = lower_bound(ShuffleEmd)
    assert 0.7 < bound <= claim


@pytest.mark.parametrize(("kind", "draws"), [(PrintedNoise, 512), (AsIfAdded, 4_096)])
def test_planted_faults_are_caught(kind, draws):
    bound, claim = lower_bound(kind, draws=draws)
    assert bound > claim


@pytest.mark.long
def test_a_third_of_the_noise_is_not_enough():
    bound, claim = lower_bound(ShuffleEmd, draws=16_384, honest=PERSONS // 3)
    assert bound > claim


@pytest.mark.long
def test_it_is_equivalent_to_the_central_mechanism():
    """Two one-sided tests at ±5 % and 5 %: the ratio of mean errors, with a standard error of 1.1 %.

    The round, share by share, with masses in 256 parts, beside `SparseEmd`, which knows no parts, for the
    same persons. Errors of one map vary by a third: 1,000 and 3,000 draws make that standard error. At a true
    ratio of 1 both tests reject with probability 0.998.
    """
    protocol = small_round("5", "0.1", resolution=8)
    persons, cells, shares = crowd_of_devices(3)
    vectors = protocol.vectors(persons, cells, np.floor(256 * shares).astype(np.int64), count=PERSONS)
    central = SparseEmd(relation=Relation.REPLACE, epsilon=Fraction(5), resolution=8)
    data = summed(cells, shares, central)
    rng = SeededSource(SEED)

    def errors(draw, count):
        return np.array([emd(draw().dense(), as_map) for _ in range(count)])

    as_map = true_dense(data)
    shuffled = errors(
        lambda: protocol.analyse(
            protocol.shuffle(protocol.split(protocol.randomise(vectors, rng), rng), rng)
        ),
        1_000,
    )
    plain = errors(lambda: central.release(data, rng), 3_000)
    ratio = shuffled.mean() / plain.mean()
    spread = [each.std(ddof=1) / math.sqrt(each.size) / each.mean() for each in (shuffled, plain)]
    deviation = ratio * math.hypot(*spread)
    assert deviation < 0.011
    assert (ratio - 0.95) / deviation > norm.isf(0.05)
    assert (1.05 - ratio) / deviation > norm.isf(0.05)
