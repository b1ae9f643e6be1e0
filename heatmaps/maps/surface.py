"""Computes the smooth surface of a released map, by the rule of `static/hazemap/surface.js`.

It is a Gaussian over released squares with its own standard error, so it costs nothing and reads no data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtr

from mechanisms.results.squares import Squares

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CUT: Final = 2  # widths: farther than that, a square adds nothing
_STEPS: Final = 2000  # of the tables
_CLUMP: Final = 0.25  # where in its square a square's mass lies is unknown: in part it may be a clump


def _cumulated(power: int) -> Floats:
    """Returns the integral of the Gaussian, cut and down to 0 there, to this power, up to each step."""
    at = np.linspace(-_CUT, _CUT, _STEPS + 1)
    density = (np.exp(-at * at / 2) - math.exp(-_CUT * _CUT / 2)) ** power
    steps = (density[:-1] + density[1:]) / 2 * (2 * _CUT / _STEPS)
    return np.concatenate(([0.0], np.cumsum(steps)))


_TOTAL: Final = _cumulated(1)[-1]
_MASS: Final = _cumulated(1) / _TOTAL
_SQUARE: Final = _cumulated(2) / _TOTAL**2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointLattice:
    """Holds a lattice of points, and the width of the Gaussian there."""

    columns: Floats  # ascending shares of the region's width, from west
    rows: Floats  # ascending shares of its height, from north
    widths: tuple[float, float]  # of the Gaussian, as shares of both

    def across(self, x: Integers, level: int) -> "_Windows":
        """Returns the amounts that squares of a level, from west, add in each column."""
        return _Windows.of(x, level, self.columns, self.widths[0])

    def down(self, y: Integers, level: int) -> "_Windows":
        """Returns the amounts that squares of a level, from north, add in each row."""
        return _Windows.of(y, level, self.rows, self.widths[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """Holds arrays of shape (rows, columns), in persons in the whole region: one person everywhere alike is
    1."""

    values: Floats = field(repr=False)
    errors: Floats = field(repr=False)  # standard

    @property
    def ratios(self) -> Floats:
        """Returns value over error; 0 where there is no error."""
        return np.divide(self.values, self.errors, out=np.zeros_like(self.values), where=self.errors > 0)

    def threshold(self, rate: float) -> float:
        """Returns the least value over error that is told apart from zero at a false discovery rate; infinite
        where none is.

        Source: Benjamini and Hochberg 1995, for errors of normal law. What is not above zero is no candidate.
        """
        ratios = np.sort(self.ratios, axis=None)[::-1]
        tails = np.where(ratios > 0, ndtr(-ratios), 1.0)
        passing = np.flatnonzero(tails <= rate * np.arange(1, ratios.size + 1) / ratios.size)
        return float(ratios[passing[-1]]) if passing.size else math.inf


def smooth(squares: Sequence[Squares], points: PointLattice) -> Surface:
    """Returns the surface at these points."""
    values, variances = (np.zeros((points.rows.size, points.columns.size)) for _ in range(2))
    for level in squares:
        for part in level.parts():
            _add(part, points, values, variances)
    # The part of a window beyond the region's border has no squares: what is inside stands for it.
    border = np.zeros(1, np.int64)
    across, down = points.across(border, 0), points.down(border, 0)
    inside = np.outer(down.means[0], across.means[0])
    return Surface(values=values / inside, errors=np.sqrt(np.maximum(variances, 0)) / inside)


def _add(squares: Squares, points: PointLattice, values: Floats, variances: Floats) -> None:
    across, down = points.across(squares.x, squares.level), points.down(squares.y, squares.level)
    window = (down.points, across.points)
    persons, squared_values = squares.values, squares.values**2
    values[window] += _summed(persons, down.means, across.means, down, across)
    variances[window] += _summed(squares.deviations**2, down.means**2, across.means**2, down, across)
    clumped_values = _summed(squared_values, down.squares, across.squares, down, across)
    spread = _summed(squared_values, down.means**2, across.means**2, down, across)
    variances[window] += _CLUMP * np.maximum(clumped_values - spread, 0)


def _summed(weights: Floats, down: Floats, across: Floats, rows: "_Windows", columns: "_Windows") -> Floats:
    """Sums over squares: weight × window down × window across, at every point that one of them reaches."""
    shape = (len(down), len(across))
    at_squares = csr_array((weights, (rows.own, columns.own)), shape=shape)
    return np.asarray(down.T @ (at_squares @ across), np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Windows:
    """Holds, along one axis: what the window at each point adds of some squares."""

    points: slice  # those that any of the squares reaches
    own: Integers  # (k,) of each square its row in the arrays
    means: Floats  # (places, points) of the window in a square
    squares: Floats  # the same of its square

    @classmethod
    def of(cls, places: Integers, level: int, points: Floats, width: float) -> "_Windows":
        """Computes windows. places: of squares in their level. points: shares of the axis; width: the
        Gaussian's, as one."""
        count = 2**level
        distinct_places, own = np.unique(places, return_inverse=True)
        lows, highs = distinct_places / count, (distinct_places + 1) / count
        ends = (float(lows[0]) - _CUT * width, float(highs[-1]) + _CUT * width)
        first, last = np.searchsorted(points, ends).tolist()
        near = points[first:last]
        from_, to = ((edges[:, np.newaxis] - near) / width for edges in (lows, highs))
        return cls(
            points=slice(first, last),
            own=own,
            means=(_read(_MASS, to) - _read(_MASS, from_)) * count,
            squares=(_read(_SQUARE, to) - _read(_SQUARE, from_)) * count / width,
        )


def _read(table: Floats, at: Floats) -> Floats:
    place = np.clip((at + _CUT) / (2 * _CUT) * _STEPS, 0, _STEPS)
    low = np.minimum(place.astype(np.int64), _STEPS - 1)
    return np.asarray(table[low] + (table[low + 1] - table[low]) * (place - low), np.float64)
