"""What the heatmap paper's figures are made of: synthetic places, sweeps, communication."""

import numpy as np
import pytest

from mechanisms.reproduction.ghazi_2022 import figures, shuffled_figures
from mechanisms.reproduction.ghazi_2022.figures import FigurePoint, measured
from mechanisms.reproduction.mixtures import SIDE, mixture
from mechanisms.space.grid import FINEST_LEVEL, parent


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_a_mixture_fills_as_many_cells_as_asked_for(share):
    place = mixture(share, 5, 3, persons=200)
    cells = np.unique(parent(place.cells, FINEST_LEVEL - 8))
    assert place.persons == 200
    assert cells.size == pytest.approx(share * SIDE**2, abs=2)
    assert np.array_equal(place.cells, mixture(share, 5, 3, persons=200).cells)


def test_a_sweep_has_a_row_for_each_point_and_algorithm():
    place = mixture(0.02, 5, 3, persons=200)
    points = [
        FigurePoint(x=epsilon, places=[place], persons=200, epsilon=str(epsilon), resolution=32)
        for epsilon in (1, 100)
    ]
    rows = measured(points, 2)
    assert len(rows) == 2 * len(figures.ALGORITHMS)
    for loose, tight in zip(rows[: len(rows) // 2], rows[len(rows) // 2 :], strict=True):
        assert loose["mechanism"] == tight["mechanism"]
        if not str(loose["mechanism"]).startswith("laplace-top"):  # it keeps one cell here, at any ε
            assert tight["emd"] < loose["emd"]


def test_communication_grows_with_the_parts_and_is_the_formula_s():
    few, many = shuffled_figures.communication_row(4), shuffled_figures.communication_row(4096)
    assert (few["printed_shares"], many["printed_shares"]) == (17, 19)
    assert few["megabytes"] < many["megabytes"]
    for row in (few, many):
        bits = (row["coordinates"] * row["modulus"] - 1).bit_length()
        assert row["megabytes"] == row["messages"] * bits / 8e6
        assert row["delta"] <= 1e-5
