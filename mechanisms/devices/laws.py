"""Turns numbers of reported cells into unbiased numbers of true ones: the inverses of laws of reports.

P(y|x) is the law of a report y from a true cell x. Coefficients c_g with Σ_y P(y|x) c_g(y) = 1 for x in a
square g and 0 else make Σ_y c_g(y) · (reports of y) the unbiased number of people in g. Reports are
independent, so that its variance is the mean of Σ_y c_g(y)² · (reports of y) minus the number itself.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.metric.frequency.gkrr import Gkrr
from mechanisms.space.grid import morton_decode

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Estimates(NamedTuple):
    """Estimates for the squares of one level, in Morton order."""

    values: Floats  # (4^level,) people
    squares: Floats  # (4^level,) Σ_y c(y)² · (reports of y)


class CellLaw(Protocol):
    """Gives the law of the cells of a map with 2^level cells a side."""

    @property
    def level(self) -> int: ...

    def estimates(self, counts: Integers, level: int) -> Estimates:
        """Returns estimates from `(4^level of the map,)` numbers of reports in Morton order,
        for squares of a coarser level.
        """
        ...

    def largest(self, level: int) -> float:
        """Returns the largest coefficient of a square of that level."""
        ...

    @property
    def swing(self) -> float:
        """Returns the largest difference of two coefficients of one cell."""
        ...

    @property
    def stays(self) -> float:
        """Returns the least probability that a cell is reported as itself."""
        ...

    @property
    def spread(self) -> float:
        """Returns Σ over the cells of the map of the variance of one report's part in them, at most."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class AxesLaw:
    """Holds laws of columns and rows by themselves.

    `(side, side)` probabilities of reports (columns) by cell (rows).
    """

    level: int
    across: Floats = field(repr=False)
    along: Floats = field(repr=False)

    @cached_property
    def inverses(self) -> tuple[Floats, Floats]:
        across, along = (np.asarray(np.linalg.inv(law), np.float64) for law in (self.across, self.along))
        return across, along

    def estimates(self, counts: Integers, level: int) -> Estimates:
        column, row = morton_decode(np.arange(counts.size), self.level)
        grid = np.zeros((1 << self.level, 1 << self.level))
        grid[column, row] = counts
        across, along = self._coefficients(level)
        column, row = morton_decode(np.arange(4**level), level)
        return Estimates(
            values=(across.T @ grid @ along)[column, row],
            squares=((across**2).T @ grid @ along**2)[column, row],
        )

    def largest(self, level: int) -> float:
        return float(self._ends(level).max())

    @property
    def swing(self) -> float:
        ends = self._ends(self.level)
        return float((ends.max(axis=2) - ends.min(axis=2)).max())

    @property
    def stays(self) -> float:
        return float(self.across.diagonal().min() * self.along.diagonal().min())

    @property
    def spread(self) -> float:
        across, along = self.inverses
        sides = (self.across @ (across**2).sum(axis=1), self.along @ (along**2).sum(axis=1))
        return float(sides[0].max() * sides[1].max()) - 1

    def _coefficients(self, level: int) -> tuple[Floats, Floats]:
        across, along = (_coarser(inverse, self.level - level) for inverse in self.inverses)
        return across, along

    def _ends(self, level: int) -> Floats:
        """Returns `(side, side, 4)` products of the least
        and largest coefficients on both axes: the ends of all.
        """
        across, along = (
            np.stack((part.min(axis=0), part.max(axis=0)), axis=1) for part in self._coefficients(level)
        )
        products = across[:, np.newaxis, :, np.newaxis] * along[np.newaxis, :, np.newaxis, :]
        return np.asarray(products.reshape(*products.shape[:2], 4))


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseLaw:
    """Gives any law on few cells.

    `(cells, cells)` probabilities of reports (columns) by cell (rows), in Morton order.
    """

    level: int
    matrix: Floats = field(repr=False)

    @classmethod
    def of_lattice(cls, level: int, matrix: Floats) -> Self:
        """Returns the law of a matrix of cells numbered column · rows + row."""
        column, row = morton_decode(np.arange(4**level), level)
        order = (column << level) + row
        return cls(level=level, matrix=matrix[np.ix_(order, order)])

    @cached_property
    def inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.matrix), np.float64)

    def estimates(self, counts: Integers, level: int) -> Estimates:
        coefficients = _coarser(self.inverse, 2 * (self.level - level))
        return Estimates(values=counts @ coefficients, squares=counts @ coefficients**2)

    def largest(self, level: int) -> float:
        return float(_coarser(self.inverse, 2 * (self.level - level)).max())

    @property
    def swing(self) -> float:
        return float((self.inverse.max(axis=0) - self.inverse.min(axis=0)).max())

    @property
    def stays(self) -> float:
        return float(self.matrix.diagonal().min())

    @property
    def spread(self) -> float:
        return float((self.matrix @ (self.inverse**2).sum(axis=1)).max()) - 1


@dataclass(frozen=True, kw_only=True)
class GkrrLaw:
    """Inverts randomised response in districts in closed form: c = a·own + b·district + c·all (`Gkrr`)."""

    level: int
    gkrr: Gkrr

    def estimates(self, counts: Integers, level: int) -> Estimates:
        a, b, c = self.gkrr.inverse
        size, districts = 4 ** (self.level - level), self.gkrr.district_cells
        own = counts.reshape(-1, size).sum(axis=1).astype(np.float64)
        everywhere = float(counts.sum())
        if size >= districts:  # whole districts: a report in them counts for one cell's row of coefficients
            inside, rest = a + b * districts + c * size, c * size
            return Estimates(
                values=inside * own + rest * (everywhere - own),
                squares=inside**2 * own + rest**2 * (everywhere - own),
            )
        near = np.repeat(self.gkrr.by_district(counts.astype(np.float64)), districts // size)
        inside, beside, rest = a + (b + c) * size, (b + c) * size, c * size
        return Estimates(
            values=inside * own + beside * (near - own) + rest * (everywhere - near),
            squares=inside**2 * own + beside**2 * (near - own) + rest**2 * (everywhere - near),
        )

    def largest(self, level: int) -> float:
        a, b, c = self.gkrr.inverse
        size = 4 ** (self.level - level)
        return float(a + b * min(size, self.gkrr.district_cells) + c * size)

    @property
    def swing(self) -> float:
        a, b, c = self.gkrr.inverse
        return a + b + c - min(b + c, c)

    @property
    def stays(self) -> float:
        return self.gkrr.own / self.gkrr.total

    @property
    def spread(self) -> float:
        return self.gkrr.spread[0]


def _coarser(coefficients: Floats, halvings: int) -> Floats:
    """Returns coefficients of squares from those of the cells in them, which follow each other."""
    return np.asarray(coefficients.reshape(len(coefficients), -1, 1 << halvings).sum(axis=2))
