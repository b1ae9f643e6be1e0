"""frequency: GKRR and its inverse, Hadamard response, the bound of Theorem 6.6, the claim, planted faults."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import ot
import pytest
from scipy.stats import chisquare

from mechanisms.audit.lower_bound import audit
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.metric.frequency.gkrr import Gkrr, clustered_distance, error_bound, printed_bound
from mechanisms.metric.frequency.hadamard import Hadamard
from mechanisms.metric.frequency.mechanism import Frequency, nearest
from tests.mechanisms.examples import SEED, masses_for

SHAPES = [(4, 3, 2.0, 0.5), (1, 5, 1.0, 1.0), (5, 1, 1.0, 0.3), (8, 16, 6.0, 0.2)]


def gkrr(shape):
    districts, cells, loss, within = shape
    return Gkrr.of(districts=districts, district_cells=cells, loss=loss, within=within)


@pytest.mark.parametrize("shape", SHAPES)
def test_gkrr_has_the_losses_asked_for_and_its_inverse(shape):
    one = gkrr(shape)
    matrix, k = one.matrix(), one.cells
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert float(one.loss) == pytest.approx(math.log(matrix.max() / matrix.min()), rel=1e-9)
    inverse = np.stack([one.estimate(row) for row in np.eye(k)])
    assert matrix @ inverse == pytest.approx(np.eye(k), abs=1e-12)
    assert one.spread[0] == pytest.approx((inverse**2).sum(axis=1).max() - 1)
    shares = np.random.default_rng(SEED).dirichlet(np.ones(k))
    assert one.squares(shares) == pytest.approx((inverse**2).T @ shares)


def test_gkrr_has_the_papers_probabilities():
    one, top, middle = Gkrr.of(districts=3, district_cells=4, loss=2, within=0.6), math.exp(2), math.exp(1.4)
    expected = np.array([top, *[middle] * 3, *[1] * 8]) / (top + 3 * middle + 8)
    assert one.matrix()[0] == pytest.approx(expected, rel=1e-9)
    assert float(one.loss_within) == pytest.approx(0.6)


@pytest.mark.parametrize("kind", [gkrr(SHAPES[0]), Hadamard.of(items=12, loss=1.5)], ids=["gkrr", "hadamard"])
def test_reports_have_the_law_of_the_matrix(kind):
    for cell in (0, 11):
        drawn = kind.report(np.full(20_000, cell), SeededSource(SEED))
        counts = np.bincount(drawn, minlength=kind.matrix().shape[1])
        assert chisquare(counts, kind.matrix()[cell] * 20_000).pvalue > 1e-6
        assert chisquare(counts, np.roll(kind.matrix()[cell], 5) * 20_000).pvalue < 1e-6


def test_hadamard_response_is_unbiased():
    one = Hadamard.of(items=12, loss=1.5)
    assert np.stack([one.estimate(row) for row in one.matrix()]) == pytest.approx(np.eye(12), abs=1e-12)
    assert float(one.loss) == pytest.approx(1.5)


def test_the_clustered_distance_is_the_solved_one():
    random = np.random.default_rng(SEED)
    same = np.kron(np.eye(3), np.ones((4, 4)))
    cost = np.where(same > 0, 0.2, 1.0)
    np.fill_diagonal(cost, 0)
    for _ in range(20):
        one, other = random.dirichlet(np.full(12, 0.3), size=2)
        assert clustered_distance(one, other, districts=3, within=0.2) == pytest.approx(
            ot.emd2(one, other, cost)
        )


@pytest.mark.parametrize("loss", [0.5, 2, 6])
def test_the_measured_error_is_below_the_bound_and_that_below_the_printed_one(loss):
    # 20 runs of 4,000 reports: the mean's own error is a few per cent, the bound is 1.2 to 3 times it.
    within, items, random = 0.2, 4000, SeededSource(SEED)
    one = Gkrr.of(districts=4, district_cells=4, loss=loss, within=within * loss)
    truth = np.random.default_rng(SEED).dirichlet(np.full(16, 0.5))
    cells = np.repeat(np.arange(16), np.rint(truth * items).astype(int))
    truth, found = np.bincount(cells, minlength=16) / cells.size, []
    for _ in range(20):
        reports = np.bincount(one.report(cells, random), minlength=16) / cells.size
        found.append(clustered_distance(one.estimate(reports), truth, districts=4, within=within))
    bound = error_bound(one, within=within, items=cells.size)
    printed = printed_bound(districts=4, district_cells=4, within=within, loss=loss, items=cells.size)
    assert 0.1 * bound < np.mean(found) < bound <= printed


def test_maps_are_made_non_negative_by_projection():
    random = np.random.default_rng(SEED)
    for _ in range(10):
        raw = random.normal(0.06, 0.3, 16)
        found = nearest(raw + (1 - raw.sum()) / 16, districts=4)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
    kept = random.dirichlet(np.ones(16))
    assert nearest(kept, districts=4) == pytest.approx(kept)


def make(kind=Frequency, *, epsilon=2, persons=20, resolution=4, relation=Relation.REPLACE, **parameters):
    target = Target(relation=relation, epsilon=Fraction(epsilon), expected_persons=persons)
    return kind.calibrate(target, resolution=resolution, **parameters)


def exact_loss(mechanism, persons):
    """Largest loss of the law of all reports when one of so many persons moves."""
    matrix = mechanism.response.matrix()
    others = matrix[0]  # all others at one cell, where what the person reports is likeliest to be rare
    before, after = (((persons - 1) * others + matrix[cell]) / persons for cell in (1, -1))
    return mechanism.items * float(np.abs(np.log(after / before)).max())


def test_the_claim_is_nearly_the_loss_of_the_worst_pair():
    for parameters in ({}, {"district_levels": 0}, {"district_levels": 2}):
        mechanism = make(**parameters)
        claim = mechanism.guarantee.loss(INFINITY)
        assert 0.999 * 2 < claim <= 2
        assert 0.7 * claim < exact_loss(mechanism, 20) <= claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Frequency):
    """Planted: each report is thought to show a part of 1/n³ of a person, not 1/n."""

    @property
    def items(self):
        return Frequency.items.fget(self) * self.expected_persons**2

    @property
    def guarantee(self):
        fields = ("relation", "epsilon", "resolution", "expected_persons", "district_levels")
        return Frequency(**{name: getattr(self, name) for name in fields}).guarantee


def lower_bound(mechanism, draws=1500):
    """One person moved to another district, all others in a cell of a third; the best test there is."""
    matrix, n = mechanism.response.matrix(), mechanism.expected_persons
    laws = [((n - 1) * matrix[0] + matrix[cell]) / n for cell in (5, 15)]
    ratios = np.log(laws[0] / laws[1])

    def score(masses, rng):
        return np.array([mechanism.reports(masses, rng) @ ratios])

    pair = (masses_for(mechanism, {0: n - 1, cell: 1}) for cell in (5, 15))
    return audit(score, *pair, SeededSource(SEED), draws=draws).epsilon


# Few persons: the worst event of a few reports is common enough to be seen in 2,000 draws.
def test_the_audit_stays_below_the_claim():
    mechanism = make(persons=2)
    assert 0.2 < lower_bound(mechanism) <= mechanism.guarantee.loss(INFINITY)


def test_a_forgotten_number_of_persons_is_caught():
    honest, fault = make(epsilon="0.25", persons=20), make(Forgotten, epsilon="0.25", persons=20)
    assert fault.guarantee == honest.guarantee
    assert lower_bound(fault) > fault.guarantee.loss(INFINITY)
    assert exact_loss(fault, 20) > fault.guarantee.loss(INFINITY)


def test_persons_without_check_ins_are_spread_over_the_map():
    mechanism = make(epsilon=1000, persons=1000)
    dense = mechanism.release(masses_for(mechanism, {5: 500}), SeededSource(SEED)).dense()
    there = np.sort(dense.ravel())
    assert there[-1] == pytest.approx(0.5 + 0.5 / 16, abs=0.05)
    assert there[:-1] == pytest.approx(0.5 / 16, abs=0.05)


def test_more_masses_than_expected_are_no_trouble():
    mechanism = make(epsilon=1000, persons=100)
    dense = mechanism.release(masses_for(mechanism, {5: 3000, 6: 1000}), SeededSource(SEED)).dense()
    assert np.sort(dense.ravel())[-2:] == pytest.approx([0.25, 0.75], abs=0.1)


def test_it_needs_a_number_of_persons():
    with pytest.raises(ParameterError, match="expected_persons"):
        make(persons=None)
    with pytest.raises(ParameterError, match="district_levels"):
        make(district_levels=3)
