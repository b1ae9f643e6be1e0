"""Tabulates one law of noise for all cells of a lattice in integers, and measures what it costs on these.

A report is cell + noise, clamped to the lattice. Offsets beyond the lattice's own width all end at its
border, so the law is kept for offsets within it, its tails at the outermost ones: the same reports. A small
share of reports is a uniform cell of the lattice instead. It keeps every cell possible.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.local.directions import detour, moves, usual_longest
from mechanisms.local.lattice import Cells, Floats, Lattice
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below

TOTAL_BITS: Final = 62
UNIFORM_BITS: Final = 20  # about one report in 2^20 is uniform
_UP: Final = 1e-12  # covers the rounding of logarithms of 62-bit integers and of their differences

Integers: TypeAlias = NDArray[np.int64]
Axis: TypeAlias = tuple[Floats, Floats, Integers]  # positions, weights, ascending bins


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseTable:
    """Holds P(offset (±i, ±j)) = quadrant[i, j] / total.

    P(a uniform cell) = lattice.size · uniform / total.
    """

    lattice: Lattice
    quadrant: Integers = field(repr=False)  # (columns, rows)
    uniform: int  # weight of each cell, at least 1
    ends: NDArray[np.uint64] = field(repr=False)  # running sums of the quadrant, both signs counted

    @classmethod
    def of(cls, lattice: Lattice, law: Floats) -> Self:
        """Returns the table of `law`, `(columns, rows)` probabilities of offsets, up to a common factor,
        tails at the ends.
        """
        share = 1 << (TOTAL_BITS - UNIFORM_BITS)
        signs = _signs(lattice)
        scale = (2**TOTAL_BITS - share) / float((law * signs).sum())
        quadrant = np.floor(law * scale * (1 - 1e-9)).astype(np.int64)  # floats sum up to 1e-9 too high
        ends = (quadrant * signs).ravel().cumsum().astype(np.uint64)
        return cls(lattice=lattice, quadrant=quadrant, uniform=max(1, share // lattice.size), ends=ends)

    @property
    def total(self) -> int:
        return int(self.ends[-1]) + self.lattice.size * self.uniform

    def draw(self, cells: Cells, rng: RandomSource) -> Cells:
        """Draws one independent report a cell."""
        self.lattice.check(cells)
        count = cells[0].size
        numbers = uniform_below(rng, self.total, count)
        signs = rng.words(count)
        place = np.minimum(np.searchsorted(self.ends, numbers, side="right"), self.quadrant.size - 1)
        offsets = np.divmod(place.astype(np.int64), self.lattice.rows)
        anywhere = numbers >= self.ends[-1]
        cell = (numbers[anywhere] - self.ends[-1]) // np.uint64(self.uniform)
        uniform = np.divmod(cell.astype(np.int64), self.lattice.rows)
        reports = []
        for bit, (index, offset, side, free) in enumerate(
            zip(cells, offsets, (self.lattice.columns, self.lattice.rows), uniform, strict=True)
        ):
            negative = (signs >> np.uint64(bit)) & np.uint64(1) == 1
            report = np.clip(index + np.where(negative, -offset, offset), 0, side - 1)
            report[anywhere] = free
            reports.append(report)
        return reports[0], reports[1]

    def weights(self, column: int, row: int) -> Integers:
        """Returns `(columns, rows)` weights of all reports from one cell; they sum to `total`."""
        across = _ways(self.lattice.columns, column)
        along = _ways(self.lattice.rows, row)
        weights: Integers = across @ self.quadrant @ along.T + self.uniform
        return weights

    def loss_per_metre(self) -> Fraction:
        """Returns α with P(y|x) ≤ exp(α · distance of the centres of x and x') · P(y|x') for all cells.

        A report inside the lattice comes from one offset, one at a border from all offsets beyond: running
        sums of the quadrant. All of them are compared over each of `moves`; every other move is a chain of
        these (`detour`).
        """
        logs = [np.log(weights.astype(np.float64)) for weights in self._events()]
        largest = Fraction(0)
        longest = usual_longest(self.lattice)
        for (a, b), length_m in moves(self.lattice, longest):
            change = max((_change(log, a, b) for log in logs), default=0.0)
            largest = max(largest, Fraction(change * (1 + _UP) + (_UP if change else 0)) / length_m)
        return largest * detour(self.lattice, longest)

    def cap(self) -> Fraction:
        """Returns the loss between any two cells, at most."""
        spans = (np.log(weights.astype(np.float64)) for weights in self._events())
        return Fraction(max(float(log.max() - log.min()) for log in spans) * (1 + _UP) + _UP)

    def displacements(self) -> Floats:
        """Returns `(columns, rows)` probabilities of a report i columns and j rows off,
        averaged over all cells.
        """
        lattice = self.lattice
        law = (self.quadrant * _signs(lattice)).astype(np.float64)
        at = _move_shares(lattice.columns) @ law @ _move_shares(lattice.rows).T
        free = np.outer(_apart(lattice.columns), _apart(lattice.rows)) * (lattice.size * self.uniform)
        return np.asarray((at + free) / self.total)

    def _events(self) -> Iterator[Integers]:
        """Yields weights of a kind of report by offset: of columns inside the lattice or at its border, of
        rows likewise."""
        inside = partial(_inside, margin=usual_longest(self.lattice))
        kinds: list[Callable[[Integers, int], Integers]] = [inside, _border]
        for ways in product(kinds, repeat=2):
            weights = self.quadrant
            for axis, way in enumerate(ways):
                weights = way(weights, axis)
            if weights.size:
                yield weights + self.uniform


def row_law(table: NoiseTable) -> Floats:
    """Returns `(side, side)` probabilities of reports (columns) by cell (rows), of a table of one row."""
    side = table.lattice.columns
    weights = np.stack([table.weights(cell, 0)[:, 0] for cell in range(side)])
    return np.asarray(weights / table.total)


def tail_nodes(start: float, decay: float, *, reach: float, whole: bool) -> tuple[Floats, Floats]:
    """Returns (positions, weights) for a sum (`whole`)
    or an integral over positions from `start` on, in cells.

    Slow decays, where the sum has very many terms, are integrated panel by panel. Nothing here has to be
    exact: what a table costs is measured on its integers.
    """
    if whole and decay > 0.05:
        positions = np.arange(start, start + reach / decay + 1)
        return positions, np.ones_like(positions)
    edge = start - 0.5 if whole else start
    nodes, weights = np.polynomial.legendre.leggauss(8)
    bounds = np.concatenate(([0.0], np.geomspace(0.25, reach, 10))) / decay
    halves, middles = np.diff(bounds) / 2, (bounds[1:] + bounds[:-1]) / 2
    positions = edge + (middles[:, np.newaxis] + halves[:, np.newaxis] * nodes).ravel()
    return positions, (halves[:, np.newaxis] * weights).ravel()


def binned(
    across: tuple[Floats, Floats, Integers],
    along: tuple[Floats, Floats, Integers],
    value: Callable[[Floats, Floats], Floats],
) -> Floats:
    """Returns sums of value(x, y) times both weights."""
    (x, of_x, in_x), (y, of_y, in_y) = across, along
    values = value(x[:, np.newaxis], y) * of_x[:, np.newaxis] * of_y
    starts = [np.flatnonzero(np.diff(bins, prepend=-1)) for bins in (in_x, in_y)]
    sums: Floats = np.add.reduceat(np.add.reduceat(values, starts[0], axis=0), starts[1], axis=1)
    return sums


def _signs(lattice: Lattice) -> Integers:
    """Returns the number of offsets behind each entry of the quadrant."""
    across, along = (np.where(np.arange(side) > 0, 2, 1) for side in (lattice.columns, lattice.rows))
    return np.outer(across, along)


def _inside(weights: Integers, axis: int, *, margin: int) -> Integers:
    """Returns weights by offset, the outermost of which always lead to the border; below 0 only as far as a
    move from above 0 leads: the law is the same on both sides."""
    side = weights.shape[axis]
    if side < 3:
        return np.take(weights, [], axis=axis)
    return np.take(weights, np.abs(np.arange(-min(margin, side - 2), side - 1)), axis=axis)


def _border(weights: Integers, axis: int) -> Integers:
    """Returns weights by the least offset that leads there: all larger ones do, too."""
    return np.flip(np.cumsum(np.flip(weights, axis), axis=axis), axis)


def _change(log: Floats, a: int, b: int) -> float:
    """Returns the largest |difference| of two entries (a, b) or (a, -b) apart."""
    wide, high = log.shape
    if a >= wide or b >= high:
        return 0.0
    here, there = log[: wide - a, : high - b], log[a:, b:]
    crossed, other = log[a:, : high - b], log[: wide - a, b:]
    return float(max(np.abs(here - there).max(), np.abs(crossed - other).max()))


def _ways(side: int, index: int) -> Integers:
    """Returns `(reports, offsets ≥ 0)`: how many of ±offset lead from `index` to a report on one axis."""
    ways = np.zeros((side, side), dtype=np.int64)
    offsets = np.arange(side)
    np.add.at(ways, (np.clip(index + offsets, 0, side - 1), offsets), 1)
    np.add.at(ways, (np.clip(index - offsets[1:], 0, side - 1), offsets[1:]), 1)
    return ways


def _move_shares(side: int) -> Floats:
    """Returns `(displacements, offsets)`: shares of an axis' cells
    that an offset moves by so much, either way.
    """
    offsets = np.arange(side)
    shares = np.triu(np.ones((side, side))) / side  # stopped at the border
    np.fill_diagonal(shares, (side - offsets) / side)
    return shares


def _apart(side: int) -> Floats:
    """Returns `(displacements,)`: shares of pairs of cells of an axis that are so far apart."""
    offsets = np.arange(side)
    return np.where(offsets > 0, 2, 1) * (side - offsets) / side**2
