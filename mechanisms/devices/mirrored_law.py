"""Inverts the law of a blur that is the same for all cells of a map, as `laws.py` does, with less work."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from mechanisms.devices.laws import Estimates, Floats, Integers
from mechanisms.space.grid import morton_decode


@dataclass(frozen=True, kw_only=True, eq=False)
class MirroredLaw:
    """Gives a law that stays the same when all cells are mirrored at the map's middle, across or along.

    quadrant: `(k, k, 2k, 2k)` probabilities of reports by true cells of one quarter of the map, for a map of
    2k cells a side. Functions that are even or odd across and along do not mix: four matrices of k² rows are
    inverted in place of one with sixteen times as many entries.
    """

    level: int
    quadrant: Floats = field(repr=False)

    @cached_property
    def coefficients(self) -> Floats:
        """Returns the `(k², 2k, 2k)` coefficients by report in the quarter and by square."""
        half = len(self.quadrant)
        coefficients = np.zeros((half**2, 2 * half, 2 * half))
        for signs in product((1, -1), (1, -1)):
            inverse = np.asarray(np.linalg.inv(self._folded(signs)), np.float64) / 4
            for flips, part in self._parts(coefficients):
                np.add(part, inverse.reshape(part.shape) * _sign(signs, flips), out=part)
        return coefficients

    def estimates(self, counts: Integers, level: int) -> Estimates:
        side = 1 << level
        column, row = morton_decode(np.arange(counts.size), self.level)
        grid = np.zeros((1, 1 << self.level, 1 << self.level))
        grid[0, column, row] = counts
        coefficients = self._coarser(level)
        values, squares = np.zeros((side, side)), np.zeros((side, side))
        for flips, part in self._parts(grid):
            axes = tuple(axis for axis in (0, 1) if flips[axis])
            values += np.flip(np.tensordot(part.ravel(), coefficients, 1), axes)
            squares += np.flip(np.tensordot(part.ravel(), coefficients**2, 1), axes)
        column, row = morton_decode(np.arange(4**level), level)
        return Estimates(values=values[column, row], squares=squares[column, row])

    def largest(self, level: int) -> float:
        return float(self._coarser(level).max())

    @property
    def swing(self) -> float:
        highest, lowest = self.coefficients.max(axis=0), self.coefficients.min(axis=0)
        images = ((), (0,), (1,), (0, 1))
        highest = np.max([np.flip(highest, axes) for axes in images], axis=0)
        lowest = np.min([np.flip(lowest, axes) for axes in images], axis=0)
        return float((highest - lowest).max())

    @property
    def stays(self) -> float:
        index = np.arange(len(self.quadrant))
        return float(self.quadrant[index[:, np.newaxis], index, index[:, np.newaxis], index].min())

    @property
    def spread(self) -> float:
        return float((self._folded((1, 1)) @ (self.coefficients**2).sum(axis=(1, 2))).max()) - 1

    def _coarser(self, level: int) -> Floats:
        """Returns the `(k², side, side)` coefficients of the squares of a level."""
        side, cells = 1 << level, 1 << self.level - level
        return np.asarray(self.coefficients.reshape(-1, side, cells, side, cells).sum(axis=(2, 4)))

    def _folded(self, signs: tuple[int, int]) -> Floats:
        """Returns `(k², k²)`: what the law is on functions that are even (1) or odd (−1) across and along."""
        half = len(self.quadrant)
        folded = np.zeros((half**2, half, half))
        for flips, part in self._parts(self.quadrant.reshape(half**2, 2 * half, 2 * half)):
            folded += part * _sign(signs, flips)
        return folded.reshape(half**2, half**2)

    @staticmethod
    def _parts(grids: Floats) -> Iterator[tuple[tuple[bool, bool], Floats]]:
        """Yields views of the four quarters of each grid, mirrored onto the first."""
        half = grids.shape[1] // 2
        for across, along in product((False, True), (False, True)):
            mirrored = grids[:, :: -1 if across else 1, :: -1 if along else 1]
            yield (across, along), mirrored[:, :half, :half]


def _sign(signs: tuple[int, int], flips: tuple[bool, bool]) -> int:
    return (signs[0] if flips[0] else 1) * (signs[1] if flips[1] else 1)
