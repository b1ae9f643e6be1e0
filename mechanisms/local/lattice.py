"""Holds the cells of a region that local mechanisms report, and the distances between their centres."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.candidate_net import MICRO, Net, Plane, rounded_up
from mechanisms.check import ParameterError, in_range, positive
from mechanisms.space.grid import FINEST_LEVEL, Region, morton_decode

MOST_A_SIDE: Final = 2**12
LONGEST_ROW: Final = 2**16  # cells of a lattice that is one cell high, or one wide
_DIGITS: Final = 10**12  # a square root is rounded up to 1/10^12

# Columns from the west and rows from the south, each `(k,)`.
Cells: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Divides a region into `columns` × `rows` equal cells; lengths in metres of its projection.

    `stretch` bounds projected distance / distance on the ground. `snapped` says that true places lie
    anywhere in the cells, so that two of them may be nearer than the centres of their cells.
    """

    columns: int
    rows: int
    column_m: Fraction = Fraction(1)  # width of a cell
    row_m: Fraction = Fraction(1)  # height of a cell
    stretch: Fraction = Fraction(1)
    rounding_m: Fraction = Fraction(0)  # what storing a place can add to a distance
    snapped: bool = False

    def __post_init__(self) -> None:
        most = LONGEST_ROW if 1 in (self.columns, self.rows) else MOST_A_SIDE
        for name in ("columns", "rows"):
            if not isinstance(getattr(self, name), int):
                raise ParameterError(name, getattr(self, name), f"a whole number from 1 to {most}")
            in_range(1, most, **{name: getattr(self, name)})
        positive(column_m=self.column_m, row_m=self.row_m)

    @classmethod
    def of(cls, region: Region, cell_m: Fraction, *, most_a_side: int = MOST_A_SIDE) -> Self:
        """Returns the fewest cells that are at most `cell_m` wide and high. Errors: `ParameterError`."""
        positive(cell_m=cell_m)
        net, plane = Net.of(region, cell_m), Plane(region)
        if max(net.columns, net.rows) > most_a_side:
            least_m = max(plane.width_um, plane.height_um) / (MICRO * most_a_side) * 1.001
            allowed = f"at least {least_m:.4g}, for {most_a_side} cells a side"
            raise ParameterError("cell_m", f"{float(cell_m):g}", allowed)
        return cls(
            columns=net.columns,
            rows=net.rows,
            column_m=Fraction(plane.width_um, MICRO * net.columns),
            row_m=Fraction(plane.height_um, MICRO * net.rows),
            stretch=plane.stretch,
            rounding_m=Fraction(plane.rounding_um, MICRO),
            snapped=True,
        )

    @classmethod
    def of_map(cls, region: Region, resolution: int) -> Self:
        """Returns the cells of a map with so many cells a side:
        those of a quadtree. Errors: `ParameterError`.
        """
        plane = Plane(region)
        return cls(
            columns=resolution,
            rows=resolution,
            column_m=Fraction(plane.width_um, MICRO * resolution),
            row_m=Fraction(plane.height_um, MICRO * resolution),
            stretch=plane.stretch,
            rounding_m=Fraction(plane.rounding_um, MICRO),
            snapped=True,
        )

    @property
    def size(self) -> int:
        return self.columns * self.rows

    @property
    def diagonal_m(self) -> Fraction:
        """Returns the diagonal of a cell, rounded up."""
        return root_up(self.column_m**2 + self.row_m**2)

    @property
    def snap_m(self) -> Fraction:
        """Returns the most by which the centres' distance of two places exceeds the places' own,
        in straight lines.
        """
        return self.diagonal_m + self.rounding_m if self.snapped else Fraction(0)

    def distances_m(self) -> Floats:
        """Returns `(columns, rows)` distances from the south-westernmost centre to each."""
        across = np.arange(self.columns) * float(self.column_m)
        return np.asarray(np.hypot(across[:, np.newaxis], np.arange(self.rows) * float(self.row_m)))

    def pairs_m(self) -> Floats:
        """Returns `(size, size)` distances of all pairs of centres, cells numbered column · rows + row."""
        column, row = np.divmod(np.arange(self.size), self.rows)
        across = (column[:, np.newaxis] - column) * float(self.column_m)
        return np.asarray(np.hypot(across, (row[:, np.newaxis] - row) * float(self.row_m)))

    def check(self, cells: Cells) -> None:
        """Refuses cells that are not in the lattice. Errors: ValueError for cells outside the lattice,
        without any of them in it.
        """
        for index, count in zip(cells, (self.columns, self.rows), strict=True):
            if index.size and (index.min() < 0 or index.max() >= count):
                raise ValueError("cells must lie in the lattice")


def cells_of(region: Region, lattice: Lattice, lat: ArrayLike, lon: ArrayLike) -> Cells:
    """Returns cells of places in degrees; a place outside the region counts at its nearest border."""
    x, y = morton_decode(region.morton(lat, lon), FINEST_LEVEL)
    return (x * lattice.columns) >> FINEST_LEVEL, (y * lattice.rows) >> FINEST_LEVEL


def centres_of(region: Region, lattice: Lattice, cells: Cells) -> tuple[Floats, Floats]:
    """Returns (latitude, longitude) in degrees of the centres of cells."""
    lat = region.south + (region.north - region.south) * (2 * cells[1] + 1) / (2 * lattice.rows)
    lon = region.west + (region.east - region.west) * (2 * cells[0] + 1) / (2 * lattice.columns)
    return lat, lon


def root_up(value: Fraction) -> Fraction:
    """Returns √value, rounded up."""
    scaled = value * _DIGITS**2
    return rounded_up(Fraction(math.isqrt(math.ceil(scaled) - 1) + 1, _DIGITS)) if value else Fraction(0)


def root_down(value: Fraction) -> Fraction:
    """Returns √value, rounded down."""
    return Fraction(math.isqrt(math.floor(value * _DIGITS**2)), _DIGITS)
