"""Gaussian smoothing against its formula, cell by cell."""

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.evaluation.smoothing import smooth, smooth_cut


def naive(dense, sigma, *, whole_plane):
    """The paper's H, summed cell by cell; `whole_plane` divides by the kernel's sum over all integers."""
    rows, cols = dense.shape
    y, x = np.mgrid[:rows, :cols]
    far = np.arange(-400, 401)
    plane = np.exp(-(far**2) / (2 * sigma**2)).sum() ** 2
    result = np.zeros(dense.shape)
    for row, col in np.argwhere(dense):
        kernel = np.exp(-((y - row) ** 2 + (x - col) ** 2) / (2 * sigma**2))
        result += dense[row, col] * kernel / (plane if whole_plane else kernel.sum())
    return result


@pytest.mark.parametrize("sigma", [0.3, 1, 4, 30])
@pytest.mark.parametrize(("function", "whole_plane"), [(smooth, False), (smooth_cut, True)])
def test_it_equals_the_formula(function, whole_plane, sigma):
    rng = np.random.default_rng(30)
    dense = rng.exponential(size=(24, 32)) * (rng.random((24, 32)) < 0.3)
    expected = naive(dense, sigma, whole_plane=whole_plane)
    np.testing.assert_allclose(function(dense, sigma), expected, rtol=1e-11, atol=1e-15)


def test_it_keeps_all_mass_in_a_corner():
    dense = np.zeros((64, 64))
    dense[0, 63] = 3
    assert smooth(dense, 4).sum() == pytest.approx(3)
    assert smooth_cut(dense, 4).sum() == pytest.approx(3 * 0.5499**2, abs=1e-3)  # one side, and the cell


@pytest.mark.parametrize("function", [smooth, smooth_cut])
def test_it_changes_nothing_without_width(function):
    dense = np.random.default_rng(31).random((16, 16))
    result = function(dense, 0)
    assert (result == dense).all()
    assert result is not dense


@pytest.mark.parametrize("sigma", [-1, float("nan"), float("inf"), 5000])
def test_it_refuses_a_width_out_of_range(sigma):
    with pytest.raises(ParameterError, match="sigma"):
        smooth(np.ones((4, 4)), sigma)
