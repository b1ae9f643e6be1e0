"""emd-zones and emd-distances: sensitivity is as claimed, noise as promised, faults are seen."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from mechanisms.audit.lower_bound import bound_of_runs
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.metric.linear.answers import PARTS, AnswerSums
from mechanisms.metric.linear.distances import EmdDistances
from mechanisms.metric.linear.zones import EmdZones
from tests.mechanisms.examples import SEED
from tests.mechanisms.linear import APART, CITY, NEAR, ONE, SOUTH, distances, emd_m, read, records, zones

QUESTIONS = {
    "zones-k-norm": (zones, NEAR),
    "zones-laplace": (zones, APART),
    "distances-k-norm": (distances, SOUTH),
    "distances-laplace": (distances, ONE),
}


@pytest.fixture(params=QUESTIONS)
def question(request):
    return request.param


@pytest.fixture
def made(question):
    about, asked = QUESTIONS[question]
    return about(asked)


def test_no_pair_of_records_moves_the_answers_farther_than_claimed(made, question):
    assert made.uses_laplace == question.endswith("laplace")
    order = 1 if made.uses_laplace else 2
    # A shift of D parts costs D/scale; K-norm one more (`k_norm`).
    term, scale = made.guarantee.terms[0], float(made._plan.scale)
    random, found = np.random.default_rng(SEED), 0.0
    for _ in range(200):
        one, other = records(random)
        answers = made.answers(read(made, one, other))
        change = float(np.linalg.norm(answers[0] - answers[1], ord=order)) + (order == 2)
        distance_m = emd_m(one, other)
        assert change / scale <= made.guarantee.loss(distance_m)
        found = max(found, change / scale / float(term.alpha_per_m) / (distance_m + float(term.offset_m)))
    assert found > 0.6  # six tenths of the claim would be refuted


# Between any two records: √3 by √2 a margin, or 2 by 1, where a margin is two radii; or, of distances, as far
# as the region is across by as many at every place.
CAPS = {
    "zones-k-norm": np.sqrt(6),
    "zones-laplace": 4,
    "distances-k-norm": CITY.diameter_m / 400,
    "distances-laplace": CITY.diameter_m / 400,
}


def test_it_spends_its_target_at_the_radius_and_no_more_than_its_cap(made, question):
    guarantee = made.guarantee
    assert 0.9999 < guarantee.loss(400) <= 1
    assert guarantee.loss(200) == pytest.approx(0.5, rel=0.01)
    assert guarantee.loss(INFINITY) == pytest.approx(CAPS[question], rel=0.02)
    assert guarantee.delta == 0


@lru_cache
def drawn_errors(made):
    """Of means of all persons' answers, of 1."""
    return np.abs(made.noise(SeededSource(SEED), size=20_000)) / PARTS / made.persons


def test_its_noise_has_the_promised_width(made):
    errors = drawn_errors(made)
    assert np.sqrt((errors**2).mean()) == pytest.approx(made.unit_error, rel=0.03)
    assert (errors <= WITHIN_ERRORS * made.unit_error).mean() > 0.945


def test_a_share_is_told_with_its_standard_error():
    assert zones().expected_error().share == zones().unit_error


@pytest.mark.parametrize("places", [SOUTH, ONE], ids=["k-norm", "laplace"])
def test_a_distance_is_told_with_its_mean_error_and_the_one_that_is_kept(places):
    made = distances(places)
    error, across_m = made.expected_error(), float(made.query.reach_m)
    errors_m = drawn_errors(made) * across_m
    assert errors_m.mean() == pytest.approx(error.expected_m, rel=0.03)
    assert error.within_m == pytest.approx(WITHIN_ERRORS * made.unit_error * across_m)
    # One metre a place and person: √d·radius/(ε·n) by √(d+1), or √2 for one place; cells and stretch on top.
    d = len(made.places)
    assert np.sqrt((errors_m**2).mean()) == pytest.approx(np.sqrt(d * (d + 1)) * 400 / 3, rel=0.05)


def test_what_was_released_is_kept_as_bytes(made):
    several = (0, -(2**60), 2**60)[: made.query.dimensions]
    found = made.release(AnswerSums(sums=several), SeededSource(SEED))
    kept = found.to_bytes()
    assert type(found).from_bytes(kept) == found
    for damaged in (b"", kept[:-4], kept[:4] + b"x" * 9):
        with pytest.raises(ValueError, match="damaged"):
            type(found).from_bytes(damaged)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": Fraction(1, 10**7)},
        {"radius_m": 0},
        {"radius_m": 10**9},
        {"persons": 0},
        {"relation": Relation.ADD_REMOVE},
    ],
)
def test_what_it_cannot_promise_is_refused(made, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        replace(made, **wrong)


# --- audits: one of three persons moves away, out of a zone or from the places, by several distances ---


def loss_seen(made, distance_m, draws=4000):
    """Lower bound, from draws at the edge of a zone and of a person who moved south from it."""
    there = 30.2 - distance_m / 110_900
    stays, moves = ((np.array([lat]), np.array([-97.75])) for lat in (30.2, there))
    runs = []
    for seed, last in ((SEED, stays), (SEED + 1, moves)):
        sums = np.array(made.sums(read(made, stays, stays, last)).sums)
        runs.append((sums + made.noise(SeededSource(seed), size=draws)).astype(np.float64))
    return bound_of_runs(*runs, confidence=0.999).epsilon


@pytest.mark.parametrize("distance_m", [200, 400, 2000])
def test_an_audit_does_not_refute_it(question, distance_m):
    about, asked = QUESTIONS[question]
    made = about(asked, epsilon=2)
    seen, claimed = loss_seen(made, distance_m), float(made.guarantee.loss(distance_m))
    assert seen <= claimed
    if distance_m > 200:
        assert seen > (0.4 if about is zones else 0.3) * min(claimed, 3)


def sum_as_mean(kind):
    """Planted: the noise of the sum divided by n, as if it were the mean's; that is divided by n anyway."""

    class SumAsMean(kind):
        def noise(self, rng, *, size):
            return kind.noise(self, rng, size=size) // self.persons

    return SumAsMean


@pytest.mark.parametrize(
    ("about", "asked", "kind"),
    [(zones, APART, EmdZones), (distances, ONE, EmdDistances)],
    ids=["zones", "distances"],
)
def test_an_audit_sees_a_forgotten_factor(about, asked, kind):
    faulty = about(asked, sum_as_mean(kind), epsilon=2)
    assert loss_seen(faulty, 400) > 1.5 * faulty.guarantee.loss(400)
