"""emd-linear: no pair of records moves an answer farther than claimed; audits see faults and no breach."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation, Trust
from mechanisms.mechanism import Target
from mechanisms.metric.linear.centroid import EmdLinear
from mechanisms.metric.linear.queries import (
    MeanDistance,
    MeanLocation,
    RegionFractions,
    great_circle_m,
)
from mechanisms.metric.linear.release import SCALE_STEPS, LinearRelease, record_answers
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import EARTH_RADIUS_M
from tests.mechanisms.examples import SEED
from tests.mechanisms.linear import BOXES, CITY, emd_m, records

RINGS = [
    ((south, west), (south, east), (north, east), (north, west))
    for west, south, east, north in map(tuple, BOXES)
]
PLACES = ((30.27, -97.74), (30.4, -97.6), (48.85, 2.35))
QUERIES = [
    MeanLocation(region=CITY),
    MeanDistance(places=PLACES),
    RegionFractions.of_rings(CITY, RINGS, margin_m=Fraction(800)),
]


def steepest(query, pairs=150):
    """The largest change of an answer a metre of earth mover's distance, over random pairs of records."""
    random, found = np.random.default_rng(SEED), 0.0
    for _ in range(pairs):
        one, other = records(random)
        change = query.values(*one).mean(axis=0) - query.values(*other).mean(axis=0)
        found = max(found, float(np.linalg.norm(change)) / emd_m(one, other))
    return found


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_no_pair_of_records_is_steeper_than_the_lipschitz_constant(query):
    found, claimed = steepest(query), float(query.lipschitz_per_m)
    # And half of it would be refuted: the constants are not merely large.
    assert claimed / 2 < found <= claimed


def test_lipschitz_constants_are_computed():
    one = replace(QUERIES[2], rings=QUERIES[2].rings[:1])
    assert one.lipschitz_per_m == pytest.approx(1 / 800, rel=0.01)
    assert QUERIES[2].lipschitz_per_m == pytest.approx(math.sqrt(2) / 800, rel=0.01)  # the third is far away
    assert QUERIES[1].lipschitz_per_m == pytest.approx(math.sqrt(3) * 1.0056, rel=1e-4)


def test_areas_have_soft_edges():
    ring = ((30.2, -97.8), (30.2, -97.7), (30.3, -97.75))
    query = RegionFractions.of_rings(CITY, [ring], margin_m=Fraction(1000))
    lat, lon = np.array([30.22, 30.2 - 500 / 110_900, 30.1, 30.29]), np.array([-97.75, -97.75, -97.75, -97.8])
    assert query.values(lat, lon)[:, 0] == pytest.approx([1, 0.5, 0, 0], abs=0.02)


def test_great_circles_are_those_of_a_sphere():
    lat, lon = np.array([0.0, 90.0, 0.0]), np.array([180.0, 0.0, 90.0])
    quarters = great_circle_m(lat, lon, 0.0, 0.0) / (math.pi * EARTH_RADIUS_M / 2)
    assert quarters == pytest.approx([2, 1, 1])


def release(query=QUERIES[1], *, epsilon=1, radius_m=1000, persons=1, delta=0, local=False):
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        radius_m=Fraction(radius_m),
    )
    return LinearRelease.calibrate(target, query=query, persons=persons, local=local)


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**9)])
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_it_spends_its_target_at_the_radius(query, delta):
    guarantee = release(query, delta=delta, radius_m=300).guarantee
    assert 0.9999 < guarantee.loss(300) <= 1
    assert guarantee.delta == delta
    assert guarantee.loss(150) == pytest.approx(0.5, rel=1e-3)
    assert (guarantee.loss(301) == INFINITY) == bool(delta)
    assert release(local=True).guarantee.trust is Trust.LOCAL


def test_the_papers_example_of_a_mean_distance():
    # α = 25 in units of the earth's greatest surface distance, which the radius moves the answer by: 0.04.
    query = MeanDistance(places=PLACES[:1])
    greatest_m = Fraction(math.pi * EARTH_RADIUS_M)
    radius_m = greatest_m / query.lipschitz_per_m
    mechanism = release(query, epsilon=25, radius_m=radius_m, local=True)
    a_user = mechanism.expected_error() / float(greatest_m)
    assert a_user == pytest.approx(0.04, rel=1e-4)
    assert a_user / math.sqrt(10**5) == pytest.approx(1.26e-4, rel=5e-3)
    # Its noise is drawn so; one draw for all of them would have a hundred-thousandth of it.
    drawn = np.abs(mechanism.draws(SeededSource(SEED), size=5000)) * float(mechanism.step / greatest_m)
    assert drawn.mean() == pytest.approx(0.04, rel=0.07)  # five standard errors
    central = release(query, epsilon=25, radius_m=radius_m, persons=10**5)
    assert central.expected_error() / float(greatest_m) == pytest.approx(0.04 / 10**5, rel=1e-3)


def test_gaussian_noise_is_shorter_where_there_are_many_answers():
    places = tuple((30.0 + i / 10, -97.5) for i in range(12))
    pure, gaussian = (release(MeanDistance(places=places), delta=delta) for delta in (0, Fraction(1, 1000)))
    assert gaussian.expected_error() == pytest.approx(
        np.linalg.norm(gaussian.draws(SeededSource(SEED), size=500), axis=1).mean() * float(gaussian.step),
        rel=0.05,
    )
    assert gaussian.expected_error() < pure.expected_error()


def test_answers_are_means_of_records():
    persons, lat, lon = np.array([7, 3, 7]), np.array([30.2, 30.3, 30.4]), np.array([-97.7, -97.6, -97.8])
    answers, each = record_answers(QUERIES[0], persons, lat, lon), QUERIES[0].values(lat, lon)
    assert answers == pytest.approx(np.stack([each[1], (each[0] + each[2]) / 2]))
    exact = release(QUERIES[0], epsilon=10**4, persons=2)
    assert exact.release(answers, SeededSource(SEED)) == pytest.approx(answers.mean(axis=0), abs=1)
    with pytest.raises(ParameterError, match="answers"):
        release(QUERIES[0]).release(answers, SeededSource(SEED))


# --- audits: pairs of records at several distances, honest and with planted faults ---


def bound(one, other, *, delta=0.0, confidence=1 - 1e-6):
    """Lower bound on the loss from draws of two inputs along the line between them.

    Of the event {x ≥ t}: t is chosen at half of the draws and bounded at the others (Clopper, Pearson).
    """
    half = len(one) // 2

    def loss(high, low, risk):
        likely = beta.ppf(risk, high[0], high[1] - high[0] + 1) if high[0] else 0.0
        rare = beta.isf(risk, low[0] + 1, low[1] - low[0]) if low[0] < low[1] else 1.0
        return math.log((likely - delta) / rare) if likely > delta else -math.inf

    def at(threshold, part):
        return loss(*(((x[part] >= threshold).sum(), half) for x in (other, one)), (1 - confidence) / 2)

    thresholds = np.quantile(np.concatenate([one, other]), np.linspace(0.02, 0.98, 49))
    best = max(thresholds, key=lambda t: at(t, slice(0, half)))
    return max(0.0, at(best, slice(half, None)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTwo(EmdLinear):
    """Planted: the noise of half the scale."""

    def noise(self, rng, *, size):
        return EmdLinear.noise(self, rng, size=size) // 2


def moved_sums(kind, distance_m, draws=6000):
    """Noisy sums of two inputs: one of three persons moved east by the distance; along the move."""
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(2), radius_m=Fraction(4000))
    mechanism = kind.calibrate(target, region=CITY, persons=3)
    move = int(distance_m / CITY.width_m * PARTS / CITY.shrink)
    starts = (PARTS, PARTS + move)
    drawn = mechanism.noise(SeededSource(SEED), size=2 * draws)[:, 0] << mechanism._step_bits
    # `noisy_sums` adds them to the sums; here for all draws at once.
    check = mechanism.noisy_sums(RecordMeans(persons=3, x=PARTS, y=PARTS), SeededSource(1))
    assert check[0] - PARTS == int(mechanism.noise(SeededSource(1), size=1)[0, 0]) << mechanism._step_bits
    return mechanism, *(start + drawn[i::2] for i, start in enumerate(starts))


# Power: for a shift of a scale along one axis the best half-plane has a loss of about 0.8 of the claim.
@pytest.mark.parametrize(
    "distance_m",
    [pytest.param(1000, marks=pytest.mark.long), 4000, pytest.param(8000, marks=pytest.mark.long)],
)
def test_the_mean_location_keeps_its_rising_claim(distance_m):
    mechanism, one, other = moved_sums(EmdLinear, distance_m)
    claim = mechanism.guarantee.loss(distance_m)
    assert 0.2 * claim < bound(one, other) <= claim


def test_half_the_noise_is_caught():
    mechanism, one, other = moved_sums(NoTwo, 4000)
    assert bound(one, other) > mechanism.guarantee.loss(4000)


def distances(mechanism, metres, draws=8000):
    """Noisy answers of a record at a place and of one so far north of it, whose distance it is asked for."""
    query = mechanism.query
    far = math.degrees(metres / EARTH_RADIUS_M)
    places = query.values(np.array([30.0, 30.0 + far]), np.array([-97.7, -97.7]))
    noise = mechanism.draws(SeededSource(SEED), size=2 * draws)[:, 0]
    return tuple(mechanism.on_lattice(places)[i, 0] + noise[i::2] for i in range(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfAsSteep(MeanDistance):
    """Planted: a Lipschitz constant halved."""

    @property
    def lipschitz_per_m(self):
        return MeanDistance.lipschitz_per_m.fget(self) / 2


SOUTH = ((29.0, -97.7),)


@pytest.mark.parametrize("delta", [0, Fraction(1, 1000)])
@pytest.mark.parametrize("metres", [pytest.param(400, marks=pytest.mark.long), 1000])
def test_a_mean_distance_keeps_its_rising_claim(metres, delta):
    mechanism = release(MeanDistance(places=SOUTH), epsilon=2, delta=delta)
    claim = mechanism.guarantee.loss(metres)
    least = 0.05 if delta else 0.4 * claim
    assert least < bound(*distances(mechanism, metres), delta=float(delta)) <= claim


@pytest.mark.long
def test_a_whole_record_keeps_the_flat_claim_of_user_level_privacy():
    # The radius is the diameter of all answers: no record costs more than epsilon, however far it moves.
    mechanism = release(MeanDistance(places=SOUTH), epsilon=2, radius_m=math.ceil(math.pi * EARTH_RADIUS_M))
    assert mechanism.guarantee.loss(INFINITY) <= Fraction(2001, 1000)
    far = distances(mechanism, 0.6 * math.pi * EARTH_RADIUS_M)
    assert 0.6 < bound(*far) <= mechanism.guarantee.loss(INFINITY)


def test_a_halved_lipschitz_constant_is_caught():
    mechanism = release(HalfAsSteep(places=SOUTH), epsilon=2)
    assert bound(*distances(mechanism, 1000)) > mechanism.guarantee.loss(1000)


@pytest.mark.long
def test_a_forgotten_number_of_persons_is_caught():
    # The sum of 3 persons' answers with the noise of their mean.
    mechanism = release(MeanDistance(places=SOUTH), epsilon=2, persons=3)
    one, other = distances(mechanism, 1000)
    shift = other.mean() - one.mean()
    assert SCALE_STEPS * 1.8 < shift < SCALE_STEPS * 2.2
    assert bound(one // 3, one // 3 + shift) > mechanism.guarantee.loss(1000)


def test_half_the_lipschitz_constant_fails_the_property():
    query = HalfAsSteep(places=PLACES)
    assert steepest(query) > float(query.lipschitz_per_m)
