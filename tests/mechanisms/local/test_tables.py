"""Tables of local mechanisms: what they cost, exactly, over all pairs of cells and all reports.

Claims are Fractions and tables are integers: losses are compared in 50 digits, whose own error is far below
the rounding the claims leave.
"""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.catalogue import local
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation, Trust
from mechanisms.local import directions, programme
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.optimal import TOTAL, Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.local.planar_laplace import PlanarLaplace
from mechanisms.local.reports import MOST_REPORTS
from mechanisms.mechanism import Target

SQUARE = Lattice(columns=5, rows=5)
OBLONG = Lattice(columns=4, rows=6, column_m=Fraction(3), row_m=Fraction(5, 2))
LINE = Lattice(columns=1, rows=7)
KINDS = [PlanarGeometric, PlanarLaplace, GeoLocal, Optimal]
HALF = Target(relation=Relation.REPLACE, epsilon=Fraction(1, 2), radius_m=Fraction(1))


def matrix(mechanism):
    """(total, integer weights `[true cell][report]`), cells numbered column · rows + row."""
    lattice = mechanism.lattice
    cells = list(product(range(lattice.columns), range(lattice.rows)))
    if isinstance(mechanism, Optimal):
        return TOTAL, mechanism.table.tolist()
    if isinstance(mechanism, GeoLocal):
        across, along = mechanism.tables
        rows = [
            np.outer(across.weights(c, 0)[:, 0].astype(object), along.weights(r, 0)[:, 0].astype(object))
            for c, r in cells
        ]
        return across.total * along.total, [row.ravel().tolist() for row in rows]
    return mechanism.table.total, [mechanism.table.weights(c, r).ravel().tolist() for c, r in cells]


def worst(mechanism):
    """(largest loss a metre, largest loss) over all pairs and reports, in 50 digits."""
    lattice, (_, table) = mechanism.lattice, matrix(mechanism)
    cells = list(product(range(lattice.columns), range(lattice.rows)))
    with mpmath.workdps(50):
        per_metre = cap = mpmath.mpf(0)
        for (i, one), (j, other) in product(enumerate(cells), repeat=2):
            if i == j:
                continue
            loss = mpmath.log(
                max(
                    mpmath.mpf(Fraction(a, b).numerator) / Fraction(a, b).denominator
                    for a, b in zip(table[i], table[j], strict=True)
                )
            )
            across, along = (one[0] - other[0]) * lattice.column_m, (one[1] - other[1]) * lattice.row_m
            squared = across**2 + along**2
            metres = mpmath.sqrt(mpmath.mpf(squared.numerator) / squared.denominator)
            per_metre, cap = max(per_metre, loss / metres), max(cap, loss)
        return per_metre, cap


def exactly(value):
    with mpmath.workdps(50):
        return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("lattice", [SQUARE, OBLONG, LINE], ids=["square", "oblong", "line"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_of_cells_costs_more_than_the_claim_and_some_pair_nearly_as_much(kind, lattice):
    mechanism = kind(lattice=lattice, decay_per_m=Fraction(1, 4))
    total, table = matrix(mechanism)
    assert {sum(row) for row in table} == {total}
    assert min(map(min, table)) > 0
    per_metre, cap = worst(mechanism)
    costs = mechanism.costs
    assert per_metre <= exactly(costs.per_metre)
    assert cap <= exactly(costs.cap)
    # Geo-local states the loss of a diagonal move, which lattices of one row do not have.
    slack = 0.7 if (kind, lattice) == (GeoLocal, LINE) else 0.97
    assert per_metre >= slack * exactly(costs.per_metre)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    columns=st.integers(1, 5),
    rows=st.integers(1, 4),
    decay=st.fractions(Fraction(1, 100), 8, max_denominator=100),
    width=st.fractions(Fraction(1, 4), 4, max_denominator=8),
    kind=st.sampled_from([PlanarGeometric, PlanarLaplace, GeoLocal]),
)
def test_any_table_claims_what_it_costs(columns, rows, decay, width, kind):
    lattice = Lattice(columns=columns, rows=rows, column_m=width)
    mechanism = kind(lattice=lattice, decay_per_m=decay)
    per_metre, cap = worst(mechanism)
    assert per_metre <= exactly(mechanism.costs.per_metre)
    assert cap <= exactly(mechanism.costs.cap)
    # Rounding is not felt; quadrature is on cells many decay lengths wide, where Laplace's may be above.
    if kind is not PlanarLaplace:
        assert mechanism.costs.per_metre <= decay * Fraction(1001, 1000) * (2 if kind is GeoLocal else 1)


@pytest.mark.parametrize("kind", [PlanarGeometric, PlanarLaplace])
def test_a_large_table_is_measured_by_chains_of_short_moves(kind):
    # 30 a side: moves up to 8 cells and their detours, checked here against every move from some cells.
    lattice = Lattice(columns=30, rows=27, column_m=Fraction(9, 10))
    table = kind(lattice=lattice, decay_per_m=Fraction(1, 10)).table
    cells = product(range(30), range(27))
    logs = np.log(np.stack([table.weights(*cell).ravel() for cell in cells]).astype(float))
    found = 0.0
    for cell in (0, 13, 14 * 27 + 13, 15 * 27, 29 * 27 + 20, 200, 555):
        changes = np.abs(logs - logs[cell]).max(axis=1)
        metres = lattice.pairs_m()[cell]
        found = max(found, (changes[metres > 0] / metres[metres > 0]).max())
    assert 0.99 * float(table.loss_per_metre()) < found <= float(table.loss_per_metre())


@pytest.mark.parametrize(
    ("mechanism", "error"),
    [
        (PlanarGeometric(lattice=SQUARE, decay_per_m=Fraction(1, 2)), 2.009),
        (Optimal(lattice=SQUARE, decay_per_m=Fraction(1, 2)), 1.620),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_errors_are_those_of_an_independent_library(mechanism, error):
    """5 × 5 cells, ε = 0.5 a cell, uniform prior, straight distance."""
    assert mechanism.expected_error().expected_m == pytest.approx(error, abs=5e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lattice", [SQUARE, OBLONG], ids=["square", "oblong"])
def test_the_expected_error_is_that_of_the_full_matrix(kind, lattice):
    mechanism = kind(lattice=lattice, decay_per_m=Fraction(1, 5))
    total, table = matrix(mechanism)
    mean = (np.array(table, dtype=float) / total * lattice.pairs_m()).sum() / lattice.size
    assert mechanism.expected_error().expected_m == pytest.approx(mean, rel=1e-12)


def test_the_optimum_is_best_and_the_axes_worst():
    errors = [kind.calibrate(HALF, lattice=SQUARE).expected_error().expected_m for kind in KINDS]
    geometric, laplace, axes, optimum = errors
    assert optimum < geometric < laplace < axes
    exponential = np.exp(-SQUARE.pairs_m() / 4)  # the same loss without clamping: 2.199 in the same source
    exponential /= exponential.sum(axis=1, keepdims=True)
    mean = (exponential * SQUARE.pairs_m()).sum() / 25
    assert mean == pytest.approx(2.199, abs=5e-4)
    assert mean > axes


def test_a_prior_draws_reports_to_where_people_are():
    north = tuple(1 if cell % 5 > 2 else 0 for cell in range(25))
    known = Optimal.calibrate(HALF, lattice=SQUARE, prior=north)
    assert known.expected_error().expected_m < 1.3
    per_metre, _ = worst(known)  # cells without prior are protected as all others
    assert per_metre <= exactly(known.costs.per_metre) <= 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("snapped", [False, True])
def test_it_spends_nearly_the_target_at_the_radius_and_never_more(kind, snapped):
    lattice = Lattice(columns=7, rows=6, snapped=snapped)
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(3, 4), radius_m=Fraction(2))
    loss = kind.calibrate(target, lattice=lattice).per_report.loss(2)
    assert 0.99 * target.epsilon < loss <= target.epsilon


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_with_several_reports_loses_the_sum(kind):
    mechanism = kind(
        lattice=Lattice(columns=3, rows=3, snapped=True), decay_per_m=Fraction(1, 3), max_reports=4
    )
    one, person = mechanism.per_report, mechanism.guarantee
    assert (person.trust, person.relation, person.delta) == (Trust.LOCAL, Relation.REPLACE, 0)
    for distance_m in (Fraction(1, 7), 1, 50):
        assert person.loss(distance_m) == (one + one + one + one).loss(distance_m) == 4 * one.loss(distance_m)


def test_no_share_of_reports_is_kept_at_the_border_for_nothing():
    """Offsets beyond the lattice end at its border: the same law as clamping unbounded noise."""
    far = np.arange(-200, 201)
    law = np.exp(-0.5 * np.hypot(far[:, None], far))
    law /= law.sum()
    clamped = np.zeros((5, 5))
    np.add.at(clamped, np.ix_(np.clip(far + 1, 0, 4), np.clip(far + 3, 0, 4)), law)
    table = PlanarGeometric(lattice=SQUARE, decay_per_m=Fraction(1, 2)).table
    assert np.abs(table.weights(1, 3) / table.total - clamped).max() < 2e-6


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"decay_per_m": Fraction(0)}, "decay_per_m"),
        ({"max_reports": 0}, "max_reports"),
        ({"max_reports": MOST_REPORTS + 1}, "max_reports"),
        ({"max_reports": True}, "max_reports"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_invalid_mechanism_cannot_exist(kind, change, named):
    with pytest.raises(ParameterError) as caught:
        kind(**({"lattice": SQUARE, "decay_per_m": Fraction(1)} | change))
    assert caught.value.parameter == named


def test_too_many_cells_and_priors_of_another_size_are_refused():
    for entry in local.entries():
        most = entry.mechanism.most_a_side
        with pytest.raises(ParameterError, match=f"columns is {most + 1}"):
            entry.mechanism(lattice=Lattice(columns=most + 1, rows=2), decay_per_m=Fraction(1))
    for prior in ((1,) * 24, (0,) * 25, (-1,) * 25):
        with pytest.raises(ParameterError, match="prior"):
            Optimal(lattice=SQUARE, decay_per_m=Fraction(1), prior=prior)


@pytest.mark.parametrize("longest", [1, 2, 8])
@pytest.mark.parametrize("height", [Fraction(1), Fraction(13, 10)])
def test_chains_of_moves_are_longer_than_a_straight_line_by_the_detour_at_most(longest, height):
    lattice = Lattice(columns=24, rows=24, row_m=height)
    chains = np.full((24, 24), np.inf)  # shortest way in moves to each cell, in metres
    chains[0, 0] = 0
    steps = [(a, b, float(length_m)) for (a, b), length_m in directions.moves(lattice, longest)]
    for a, b in product(range(24), repeat=2):
        for across, along, length_m in steps:
            if a >= across and b >= along:
                chains[a, b] = min(chains[a, b], chains[a - across, b - along] + length_m)
    found = (chains.ravel()[1:] / lattice.distances_m().ravel()[1:]).max()
    claimed = float(directions.detour(lattice, longest))
    assert found <= claimed
    assert found - 1 > 0.8 * (claimed - 1) > 0


def test_what_a_programme_breaks_is_repaired_in_integers(monkeypatch):
    """A solver that ignored its constraints altogether would still make no table above its claim."""
    broken = np.eye(25) * 0.9 + 0.1 / 25
    monkeypatch.setattr(programme, "solution", lambda *_: broken)
    mechanism = Optimal(lattice=SQUARE, decay_per_m=Fraction(2, 5), prior=(2,) * 25)
    total, table = matrix(mechanism)
    assert {sum(row) for row in table} == {total}
    per_metre, _ = worst(mechanism)
    assert per_metre <= exactly(mechanism.costs.per_metre) <= exactly(Fraction(2, 5))


@pytest.mark.parametrize("lattice", [SQUARE, OBLONG], ids=["square", "oblong"])
def test_symmetry_makes_the_programme_smaller_and_its_optimum_no_worse(lattice, monkeypatch):
    # The reference: the same programme with a variable for every pair of cells.
    optimum = Optimal(lattice=lattice, decay_per_m=Fraction(2, 5)).expected_error().expected_m
    monkeypatch.setattr(programme, "_same_pairs", lambda *_: np.arange(lattice.size**2))
    reference = programme.solution(lattice, 0.4, np.ones(lattice.size))
    error = (reference * lattice.pairs_m()).sum() / lattice.size
    assert optimum == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("heavy", [(0,), (0, 4), (2, 10, 14, 22)])
def test_a_prior_keeps_only_its_own_symmetries(heavy, monkeypatch):
    prior = np.ones(25)
    prior[list(heavy)] = 9
    symmetric = programme.solution(SQUARE, 0.5, prior)
    monkeypatch.setattr(programme, "_same_pairs", lambda *_: np.arange(625))
    plain = programme.solution(SQUARE, 0.5, prior)
    errors = [(prior[:, None] * table * SQUARE.pairs_m()).sum() for table in (symmetric, plain)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-5)


@pytest.mark.long
def test_the_largest_optimum_keeps_its_claim_and_beats_the_noise():
    lattice = Lattice(columns=15, rows=15)
    best, noise = (kind(lattice=lattice, decay_per_m=Fraction(1, 2)) for kind in (Optimal, PlanarGeometric))
    assert Fraction(49, 100) < best.costs.per_metre <= Fraction(1, 2)
    assert best.expected_error().expected_m < noise.expected_error().expected_m
