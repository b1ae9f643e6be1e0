"""The two baselines: what noise is where, and what is kept of it."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.catalogue.registry import get
from mechanisms.central.grid_laplace.noisy_cells import largest, standard_deviation
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from tests.mechanisms.examples import SEED, make, masses_for
from tests.mechanisms.laws import fits


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("name", ["laplace", "laplace-top"])
def test_every_cell_gets_the_noise_its_epsilon_asks_for(name, relation):
    # A crowd in every cell, so that nothing is cut: value - crowd is the noise. 65,536 draws.
    mechanism = make(name, relation=relation, resolution=256, epsilon=2, **_keep_everything(name))
    masses = masses_for(mechanism, dict.fromkeys(range(256**2), 1000))
    heatmap = mechanism.release(masses, SeededSource(SEED))
    noise = (heatmap.values * mechanism.unit).astype(np.int64) - masses.masses
    scale = Fraction(mechanism.unit, 2) * (2 if relation is Relation.REPLACE else 1)
    assert fits(noise, scale)
    assert not fits(noise, scale * Fraction(9, 10))
    assert not fits(noise, scale * Fraction(11, 10))


@pytest.mark.parametrize("name", ["laplace", "laplace-top"])
def test_its_standard_errors_are_those_of_the_noise(name):
    mechanism = make(name, resolution=256, epsilon=2, **_keep_everything(name))
    heatmap = mechanism.release(masses_for(mechanism, dict.fromkeys(range(256**2), 1000)), SeededSource(SEED))
    assert np.unique(heatmap.standard_errors).size == 1
    # The relative standard error of a sample deviation of the Laplace law is √(5/4n).
    assert heatmap.values.std() == pytest.approx(heatmap.standard_errors[0], rel=5 * (1.25 / 256**2) ** 0.5)


def _keep_everything(name):
    return {"keep_percent": 100} if name == "laplace-top" else {}


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(50)])
def test_the_standard_deviation_is_that_of_the_law(scale):
    values = np.arange(-3000, 3001)
    law = np.exp(-np.abs(values) / float(scale))
    assert standard_deviation(scale) == pytest.approx(((law * values**2).sum() / law.sum()) ** 0.5)


def test_negative_cells_are_cut():
    mechanism = make("laplace", epsilon=1)
    heatmap = mechanism.release(masses_for(mechanism, {0: 10**6}), SeededSource(SEED))
    assert 80 < heatmap.values.size < 176  # about half of 255 empty cells
    assert heatmap.values.min() > 0


@pytest.mark.parametrize(
    ("resolution", "keep_percent", "kept"),
    [
        (256, "0.01", 7),
        (256, "0.001", 1),
        (1024, "0.01", 105),
        (16, "100", 256),
        (16, "25", 64),
        (2, "1e-6", 1),
    ],
)
def test_top_keeps_its_percentage_of_cells_rounded_up(resolution, keep_percent, kept):
    mechanism = make("laplace-top", resolution=resolution, keep_percent=keep_percent)
    assert mechanism.kept_cells == kept


def test_top_keeps_the_largest_cells():
    mechanism = make("laplace-top", epsilon="1e6", keep_percent="1.5625")  # 4 of 256
    masses = masses_for(mechanism, {0: 5, 17: 1, 99: 3, 100: 7, 200: 2, 255: 9})
    heatmap = mechanism.release(masses, SeededSource(SEED))
    assert heatmap.prefixes.tolist() == [0, 99, 100, 255]
    assert heatmap.values == pytest.approx([5, 3, 7, 9], abs=1e-4)


def test_top_does_not_fill_up_with_what_is_not_above_0():
    mechanism = make("laplace-top", epsilon="1e9", keep_percent=100)
    heatmap = mechanism.release(masses_for(mechanism, {3: 1}), SeededSource(SEED))
    assert heatmap.prefixes.tolist() == [3]


@pytest.mark.parametrize(
    ("values", "count", "places"),
    [
        ([5, 1, 9], 2, [0, 2]),
        ([4, 4, 4, 4], 2, [0, 1]),  # ties: the earlier place
        ([1, 4, 9, 4, 4], 3, [1, 2, 3]),
        ([-5, -1, -5], 2, [0, 1]),
        ([1, 2], 5, [0, 1]),
        ([3], 1, [0]),
    ],
)
def test_the_largest_are_found_with_ties_in_order(values, count, places):
    assert largest(np.array(values), count).tolist() == places


@pytest.mark.parametrize("name", ["laplace", "laplace-top"])
def test_grids_beyond_a_million_cells_are_refused_by_name(name):
    assert get(name).max_resolution == 1024
    with pytest.raises(ParameterError, match="resolution is 2048, allowed: a power of two from 2 to 1024"):
        make(name, resolution=2048)


@pytest.mark.parametrize("keep_percent", ["0", "-1", "100.1", "nan", "x", 0.5])
def test_impossible_percentages_are_refused(keep_percent):
    with pytest.raises(ParameterError, match="keep_percent"):
        make("laplace-top", keep_percent=keep_percent)
