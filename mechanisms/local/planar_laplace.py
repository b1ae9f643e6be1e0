"""Snaps the planar Laplace law of Andrés et al. to the cells of a lattice."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from scipy.special import gammainc, lambertw

from mechanisms.check import in_range
from mechanisms.local.lattice import Lattice
from mechanisms.local.noise_table import Axis, NoiseTable, tail_nodes
from mechanisms.local.planar_geometric import PlanarMechanism, planar_law

_OUTSIDE: Final = 2.0**-50  # share of the law that the table leaves out
_NODES: Final = 6  # of a cell's width and height, for its integral
_FEWER_NODES: Final = 2  # on sides of more than `_MANY_CELLS` cells
_MANY_CELLS: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarLaplace(PlanarMechanism):
    """Reports the centre of the true cell moved by planar Laplace noise, snapped and clamped.

    The continuous noise has a uniform direction and a radius of which `radius_m` (Lambert W) is the inverse
    distribution function. The table holds its integral over each cell instead of draws in floating point,
    whose loss nobody can state (Andrés et al. 2013, section 5; Mironov 2012).

    Guarantee: one term a report, delta 0, LOCAL: loss(d) = min(cap, α · (d + offset)), with α and cap
    measured on the integers of the table (`NoiseTable`). Before rounding α = decay (Andrés et al. 2013,
    Theorem 4.1); snapping and clamping are post-processing.
    Edge cases: as `PlanarGeometric`, which reaches the same at somewhat less error.
    Error: `expected_error`, in metres.
    References: Andrés, Bordenabe, Chatzikokolakis, Palamidessi, CCS 2013.
    """

    name: ClassVar[str] = "planar-laplace"

    @property
    def table(self) -> NoiseTable:
        return _table(self.lattice, self.decay_per_m)


def radius_m(share: float, decay_per_m: float) -> float:
    """Returns the radius that the noise stays within with probability `share`:
    -(W₋₁((share - 1)/e) + 1) / decay.
    """
    in_range(0, 1 - 2.0**-53, share=share)
    if share < 1e-12:  # Lambert W has its branch point there; 1 - (1 + r)·exp(-r) is r²/2 to leading order
        return math.sqrt(2 * share) / decay_per_m
    return -(float(lambertw((share - 1) / math.e, -1).real) + 1) / decay_per_m


@lru_cache(maxsize=4)
def _table(lattice: Lattice, decay_per_m: Fraction) -> NoiseTable:
    decay, width_m, height_m = float(decay_per_m), float(lattice.column_m), float(lattice.row_m)
    law = planar_law(lattice, decay_per_m, _axis)
    if min(lattice.columns, lattice.rows) > 1:  # else the middle cell holds tails as well
        law[0, 0] = _middle(decay * width_m / 2, decay * height_m / 2) / (decay**2 * width_m * height_m)
    return NoiseTable.of(lattice, law)


def _axis(side: int, decay: float) -> Axis:
    """Returns quadrature nodes in cells, of the integral over each cell;
    the outermost has all beyond, too.
    """
    count = _FEWER_NODES if side > _MANY_CELLS else _NODES
    nodes, weights = np.polynomial.legendre.leggauss(count)
    cells = np.abs(np.arange(side)[:, np.newaxis] + nodes / 2).ravel()
    tail, of_tail = tail_nodes(side - 0.5, decay, reach=radius_m(1 - _OUTSIDE, 1.0), whole=False)
    bins = np.minimum(np.arange(cells.size + tail.size) // count, side - 1)
    return np.concatenate((cells, tail)), np.concatenate((np.tile(weights / 2, side), of_tail)), bins


def _middle(half_width: float, half_height: float) -> float:
    """Returns ∫ exp(-|z|) over the cell around 0, in polar coordinates: exp has a cusp there.

    Along a ray up to R it is ∫ r·exp(-r) dr = 1 - (1 + R)·exp(-R), the radius' distribution function.
    """
    nodes, weights = np.polynomial.legendre.leggauss(32)
    corner = math.atan2(half_height, half_width)
    total = 0.0
    for angle, side in ((corner, half_width), (math.pi / 2 - corner, half_height)):
        rays = side / np.cos(angle * (nodes + 1) / 2)
        total += float((gammainc(2, rays) * weights).sum()) * angle / 2
    return 4 * total
