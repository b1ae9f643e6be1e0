"""Smooths dense maps by a Gaussian, with two ways to treat the border."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import correlate1d

from mechanisms.check import in_range

MAX_SIGMA_CELLS: Final = 4096.0
_REACH: Final = 8.5  # in σ; beyond it the kernel is below 2e-16 of its middle

Dense = NDArray[np.float64]


def smooth(dense: ArrayLike, sigma_cells: float) -> Dense:
    """Returns the heatmap of a map: each cell's mass spread by a Gaussian that is normalised over the grid.

    dense: (rows, cols) masses. The sum stays, however close to the border the mass lies; σ = 0 changes
    nothing. Errors: `ParameterError` for σ outside 0 to 4096 cells.
    Source: Ghazi et al. 2022, §2.3, whose 1/Z(x', y') factorises into one sum per axis.
    """
    kernel = _kernel(sigma_cells)
    masses = np.array(dense, np.float64)
    for axis in (0, 1):
        inside = correlate1d(np.ones(masses.shape[axis]), kernel, mode="constant")
        masses /= np.expand_dims(inside, 1 - axis)
        masses = correlate1d(masses, kernel, axis=axis, mode="constant")
    return masses


def smooth_cut(dense: ArrayLike, sigma_cells: float) -> Dense:
    """Smooths as `smooth` does, with the Gaussian of the whole plane: mass that leaves the grid is cut off.

    The sum shrinks near the border; who compares such maps normalises them again.
    """
    kernel = _kernel(sigma_cells)
    masses = np.array(dense, np.float64)
    for axis in (0, 1):
        masses = correlate1d(masses, kernel, axis=axis, mode="constant")
    return masses


def _kernel(sigma_cells: float) -> Dense:
    """Returns exp(−k²/2σ²) for |k| up to the reach, sum 1: shape `(2 · reach + 1,)`."""
    in_range(0, MAX_SIGMA_CELLS, sigma=sigma_cells)
    reach = math.ceil(_REACH * sigma_cells)
    steps = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-((steps / max(sigma_cells, 1e-9)) ** 2) / 2)
    return np.asarray(weights / weights.sum())
