"""Cuts a rectangle out of a region, between finest grid lines, so that everything about it is in integers.

A rectangle has a grid of its own, which lines up with none of the region's coarser cells. A check-in lies
where its finest cell begins: millimetres, not more, separate that from the point itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import ParameterError, in_range
from mechanisms.space.grid import FINEST_LEVEL, Codes, Region, children, morton_decode, morton_encode

LINES: Final = 1 << FINEST_LEVEL  # finest cells a side; line 0 is the west or south border, this the other
MOST_RANGES: Final = 16  # of Morton codes, for a database to look through
_MOST_CELLS: Final = 64 * MOST_RANGES  # that are looked at while ranges are searched

Range = tuple[int, int]  # first and last Morton code at the finest level


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Holds edges as finest grid lines of a region; half-open to the east and north, as cells are."""

    west: int
    south: int
    east: int
    north: int

    def __post_init__(self) -> None:
        in_range(0, LINES, west=self.west, south=self.south, east=self.east, north=self.north)
        if self.west >= self.east or self.south >= self.north:
            raise ParameterError("rectangle", self.edges, "west < east, south < north")

    @classmethod
    def nearest(cls, region: Region, box: Region) -> Self:
        """Returns the rectangle whose edges are nearest to those of a box in degrees that lies in the region.

        Errors: `ParameterError` when too little is left between the lines for a `Region`.
        """
        across, up = (region.west, region.east), (region.south, region.north)
        rectangle = cls(
            _nearest_line(box.west, *across),
            _nearest_line(box.south, *up),
            _nearest_line(box.east, *across),
            _nearest_line(box.north, *up),
        )
        rectangle.region(region)
        return rectangle

    @property
    def edges(self) -> tuple[int, int, int, int]:
        """Returns west, south, east and north."""
        return self.west, self.south, self.east, self.north

    @property
    def is_whole(self) -> bool:
        """Tells whether it is all of its region."""
        return self.edges == (0, 0, LINES, LINES)

    @property
    def shorter_side(self) -> int:
        """Returns the finest cells along its shorter side: no grid of it can usefully have more."""
        return min(self.east - self.west, self.north - self.south)

    def region(self, region: Region) -> Region:
        """Returns the rectangle in degrees."""
        return Region(
            _degrees(self.west, region.west, region.east),
            _degrees(self.south, region.south, region.north),
            _degrees(self.east, region.west, region.east),
            _degrees(self.north, region.south, region.north),
        )

    def cells(self, codes: ArrayLike, level: int) -> tuple[NDArray[np.bool_], Codes]:
        """Returns which finest cells of the region lie in the rectangle, and its own cells that hold those.

        codes: (m,) Morton codes of the region's finest cells. Returns a mask (m,) and the Morton codes at
        `level` in the rectangle's grid, (k,) for the k cells that lie in it.
        """
        in_range(0, FINEST_LEVEL, level=level)
        x, y = morton_decode(codes, FINEST_LEVEL)
        inside = (x >= self.west) & (x < self.east) & (y >= self.south) & (y < self.north)
        # Offsets are below 2^31 and levels at most 31: the products stay below 2^62.
        column = ((x[inside] - self.west) << level) // (self.east - self.west)
        row = ((y[inside] - self.south) << level) // (self.north - self.south)
        return inside, morton_encode(column, row, level)

    def ranges(self, most: int = MOST_RANGES) -> list[Range]:
        """Returns at most so many disjoint ranges of finest Morton codes, which hold all of its cells.

        From the whole grid on, cells on the rectangle's border are divided as long as few ranges are left.
        """
        ranges, settled, border = [(0, LINES**2 - 1)], list[Range](), np.zeros(1, np.int64)
        for level in range(1, FINEST_LEVEL + 1):
            full, border = self._divided(border, level)
            settled = _merge([*settled, *_spans(full, level)])
            finer = _merge([*settled, *_spans(border, level)])
            if len(finer) > most:
                break
            ranges = finer
            if not 0 < border.size <= _MOST_CELLS:
                break
        return ranges

    def _divided(self, border: Codes, level: int) -> tuple[Codes, Codes]:
        """Returns the children of cells: those wholly in it, and those partly."""
        codes = children(border)
        x, y = morton_decode(codes, level)
        up = FINEST_LEVEL - level
        west, south, east, north = x << up, y << up, (x + 1) << up, (y + 1) << up
        touching = (west < self.east) & (east > self.west) & (south < self.north) & (north > self.south)
        inside = (west >= self.west) & (east <= self.east) & (south >= self.south) & (north <= self.north)
        return codes[inside], codes[touching & ~inside]


def _nearest_line(degrees: float, low: float, high: float) -> int:
    """Returns the line exactly: doubles are taken at their values; half-way lines go to the even one."""
    return round((Fraction(degrees) - Fraction(low)) * LINES / (Fraction(high) - Fraction(low)))


def _degrees(line: int, low: float, high: float) -> float:
    """Returns the double nearest to the line, so that the line is nearest to it in turn."""
    return float(Fraction(low) + (Fraction(high) - Fraction(low)) * line / LINES)


def _spans(codes: Codes, level: int) -> list[Range]:
    up = 2 * (FINEST_LEVEL - level)
    return [(code << up, ((code + 1) << up) - 1) for code in codes.tolist()]


def _merge(ranges: list[Range]) -> list[Range]:
    """Returns them ascending, neighbours made one."""
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and merged[-1][1] + 1 == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged
