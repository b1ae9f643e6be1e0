"""At epsilon a millionth, releases of two cities that share no cell cannot be told apart."""

import numpy as np
import pytest
from scipy.stats import binom

from mechanisms.catalogue.registry import get
from mechanisms.evaluation.earth_mover import block_sums
from mechanisms.evaluation.seeded import SeededSource
from tests.mechanisms.examples import NAMES, SEED, in_turn, make, masses_for

RESOLUTION = 32  # two cells a block of the classifier
RELEASES = 200  # of each city; one half trains the classifier
LOW, HIGH = (int(binom.ppf(share, RELEASES, 0.5)) for share in (0.005, 0.995))  # 99 %


def city(mechanism, *, west):
    """200 persons around a centre in the western or eastern half."""
    random = np.random.default_rng(SEED + west)
    side = mechanism.resolution
    x, y = (np.clip(random.normal(side / 4, side / 16, 400), 0, side // 2 - 1).astype(int) for _ in range(2))
    x = x if west else side - 1 - x
    cells = [_morton(int(column), int(row)) for column, row in zip(x, y, strict=True)]
    return masses_for(mechanism, {cell: 0.5 * cells.count(cell) for cell in set(cells)})


def _morton(x, y):
    return sum(((x >> bit & 1) | (y >> bit & 1) << 1) << 2 * bit for bit in range(16))


def maps(mechanism, masses, source):
    return np.array(
        [block_sums(mechanism.release(masses, source).dense(), 16).ravel() for _ in range(RELEASES)]
    )


def hits(mechanism):
    """Right answers on the other half of a linear classifier (ridge regression on 16 × 16 blocks)."""
    source = SeededSource(SEED)
    features = np.concatenate([maps(mechanism, city(mechanism, west=west), source) for west in (True, False)])
    labels = np.repeat([1.0, -1.0], RELEASES)
    training = np.arange(2 * RELEASES) % 2 == 0
    centre = features[training].mean(axis=0)
    x = (features - centre) / features[training].std(axis=0).max()
    gram = x[training].T @ x[training] + np.eye(x.shape[1])
    weights = np.linalg.solve(gram, x[training].T @ labels[training])
    return int((np.sign(x[~training] @ weights) == labels[~training]).sum())


# Two share what is private with the sparse map, looked at anyway; the third is measured as `laplace` is.
SLOW = {"adaptive", "privtree"}  # a draw takes milliseconds
LONG = {"dense-emd", "k-median", "shuffle-emd"}
POWER = [pytest.param(name, marks=pytest.mark.long) if name in LONG | SLOW else name for name in NAMES]
PAIRS = in_turn(NAMES, lambda name: get(name).relations, long=LONG)


@pytest.mark.parametrize(("name", "relation"), PAIRS)
def test_two_cities_look_alike_at_epsilon_a_millionth(name, relation):
    assert LOW <= hits(make(name, relation=relation, resolution=RESOLUTION, epsilon="1e-6")) <= HIGH


@pytest.mark.parametrize("name", POWER)
def test_the_same_classifier_tells_them_apart_at_epsilon_1(name):
    # One report is all that `frequency` can afford for 200 persons at epsilon 1.
    epsilon = 50 if name == "frequency" else 1
    assert hits(make(name, resolution=RESOLUTION, epsilon=epsilon)) > 0.95 * RELEASES


def test_the_cities_share_no_cell():
    mechanism = make("sparse-emd", resolution=RESOLUTION, width=20)
    one, other = city(mechanism, west=True), city(mechanism, west=False)
    assert not set(one.cells.tolist()) & set(other.cells.tolist())
    assert one.masses.sum() == other.masses.sum() == 200 * mechanism.unit
