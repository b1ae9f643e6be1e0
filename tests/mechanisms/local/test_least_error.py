"""No private mechanism comes nearer than the bound: against linear programmes and every local mechanism."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from mechanisms.local import least_error as under_test
from mechanisms.local.lattice import Lattice
from mechanisms.local.least_error import least_error, line_mean, line_worst
from mechanisms.local.optimal import Optimal
from mechanisms.reproduction.boedihardjo_2024.bounds import (
    best_bound,
    diametric_bound,
    entropic_bound,
    packing_bound,
    pair_bound,
)
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace
from tests.mechanisms.local.test_tables import KINDS, OBLONG, SQUARE, matrix


def optimum(distances, alpha, *, worst):
    """The least expected error of a private mechanism that answers with one of the points: at its worst
    point, or averaged over all."""
    size = len(distances)
    index = np.arange(size**2).reshape(size, size)
    pairs = [(x, z) for x, z in product(range(size), repeat=2) if x != z]
    one, other = (np.concatenate([index[pair[at]] for pair in pairs]) for at in (0, 1))
    falls = np.repeat([np.exp(-alpha * distances[pair]) for pair in pairs], size)
    rows = np.arange(len(one))
    blocks = [(rows, one, falls), (rows, other, -np.ones(len(one)))]
    if worst:  # the last variable is at least the expected error from each point
        at = len(one) + np.arange(size)
        blocks += [(np.repeat(at, size), index.ravel(), distances.ravel())]
        blocks += [(at, np.full(size, size**2), -np.ones(size))]
    where = [np.concatenate(part) for part in zip(*blocks, strict=True)]
    bounds = coo_array((where[2], (where[0], where[1])), shape=(where[0].max() + 1, size**2 + 1)).tocsr()
    sums = coo_array((np.ones(size**2), (np.repeat(np.arange(size), size), index.ravel())))
    sums.resize((size, size**2 + 1))
    costs = np.append(np.zeros(size**2), 1) if worst else np.append(distances.ravel() / size, 0)
    found = linprog(
        costs,
        A_ub=bounds,
        b_ub=np.zeros(bounds.shape[0]),
        A_eq=sums.tocsr(),
        b_eq=np.ones(size),
        method="highs",
    )
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("cells", [2, 3, 5, 8])
@pytest.mark.parametrize("alpha", [0.02, 0.3, 1, 3])
def test_on_a_line_the_mean_is_the_optimum_itself(cells, alpha):
    distances = np.abs(np.subtract.outer(np.arange(cells), np.arange(cells))) * 2.0
    assert line_mean(cells, 2.0, alpha) == pytest.approx(
        optimum(distances, alpha, worst=False), rel=1e-5, abs=1e-6
    )
    largest = optimum(distances, alpha, worst=True)
    found = line_worst(cells, 2.0, alpha)
    assert 0.6 * largest - 1e-6 <= found <= largest + 1e-6


@pytest.mark.parametrize("alpha", [0.05, 0.4, 1, 2.5])
def test_on_cells_it_is_below_the_optimum_and_not_far(alpha):
    lattice = Lattice(columns=4, rows=3, column_m=Fraction(1), row_m=Fraction(3, 2))
    found, distances = least_error(lattice, Fraction(alpha)), lattice.pairs_m()
    mean, worst = (optimum(distances, alpha, worst=which) for which in (False, True))
    assert 0.55 * mean <= found.mean_m <= mean + 1e-6
    assert 0.45 * worst <= found.worst_m <= worst + 1e-6
    finite = best_bound(FiniteSpace.of(distances), alpha)
    assert 0.2 * worst <= finite <= worst + 1e-6


def test_without_loss_only_the_middle_can_be_told():
    lattice = Lattice(columns=7, rows=4, row_m=Fraction(2))
    found = least_error(lattice, Fraction(0))
    assert found.worst_m == pytest.approx(np.hypot(3, 3))  # half the diagonal of the outermost centres
    assert found.mean_m == pytest.approx(np.hypot(12 / 7, 2))
    assert least_error(Lattice(columns=1, rows=1), Fraction(0)).worst_m == 0


@pytest.mark.parametrize(
    ("cells", "alpha", "least"), [(400, 0.05, 0.9), (2000, 0.01, 0.9), (2000, 0.3, 0.97)]
)
def test_far_from_the_border_it_comes_near_to_the_root_of_two_over_alpha(cells, alpha, least):
    found = least_error(Lattice(columns=cells, rows=cells), Fraction(alpha))
    assert least * 2**0.5 / alpha < found.mean_m < 2**0.5 / alpha


def errors_of(mechanism):
    """(mean, largest) expected error over the cells, from all probabilities."""
    total, table = matrix(mechanism)
    shares = np.array([[float(Fraction(weight, total)) for weight in row] for row in table])
    errors = (shares * mechanism.lattice.pairs_m()).sum(axis=1)
    return errors.mean(), errors.max()


@pytest.mark.parametrize("lattice", [SQUARE, OBLONG], ids=["square", "oblong"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_local_mechanism_is_nearer_than_any_bound(kind, lattice):
    space = FiniteSpace.of(lattice.pairs_m())
    for decay in (Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(3))[kind is Optimal :: 2]:
        mechanism = kind(lattice=lattice, decay_per_m=decay)
        mean, worst = errors_of(mechanism)
        alpha = mechanism.costs.per_metre
        found = least_error(lattice, alpha)
        assert found.mean_m <= mean
        assert found.worst_m <= worst
        for bound in (entropic_bound, diametric_bound, pair_bound, packing_bound):
            # A constant answer loses nothing; a bound for more loss is lower.
            assert bound(space, max(float(alpha), 1e-6)) <= worst


def test_a_bound_for_half_the_loss_would_be_noticed():
    """What promises alpha and is measured against the bound of alpha / 2 is caught."""
    mechanism = KINDS[0](lattice=SQUARE, decay_per_m=Fraction(1))
    mean, _ = errors_of(mechanism)
    assert least_error(SQUARE, mechanism.costs.per_metre / 2).mean_m > mean


def test_answers_are_read_as_well_as_can_be(monkeypatch):
    """Without the posterior's median the optimum on a short line would be missed."""
    honest = line_mean(5, 1.0, 0.1)
    monkeypatch.setattr(under_test.np, "searchsorted", lambda sums, wanted: np.zeros(len(wanted), dtype=int))
    assert line_mean(5, 1.0, 0.1) > honest * 1.05
