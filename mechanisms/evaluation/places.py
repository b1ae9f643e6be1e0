"""Selects where the heatmap paper's experiments take place: cells of a partition, and the persons in them."""

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.space.grid import Region

PARTITION: Final = Region(-135, 0, -60, 50)  # Ghazi et al. 2022, §4: roughly the continental US
CELLS_A_SIDE: Final = 300
OUTSIDE: Final = -1
BOX: Final = CELLS_A_SIDE**2  # number of a place that is a box of one's own

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Split(StrEnum):
    """Says which cells may be looked at: choices made on one half are reported on the other."""

    EVEN = "even"
    ODD = "odd"
    ALL = "all"

    def has(self, number: int) -> bool:
        """Decides by the parity of SHA-256 of the cell number's decimal digits."""
        digest = hashlib.sha256(str(number).encode()).digest()
        return self is Split.ALL or (digest[-1] % 2 == 1) == (self is Split.ODD)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckInPlace:
    """Holds the check-ins of one cell, by person: those of person i are [starts[i], starts[i + 1])."""

    number: int  # row · 300 + column, or BOX
    region: Region
    starts: Integers = field(repr=False)  # (persons + 1,)
    cells: Integers = field(repr=False)  # (k,) Morton codes at the finest level

    @classmethod
    def of(cls, number: int, region: Region, persons: Integers, lat: Floats, lon: Floats) -> Self:
        """Returns the place of the check-ins inside the region, one row each."""
        order = np.argsort(persons, kind="stable")
        starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
        cells = region.morton(lat[order], lon[order])
        return cls(number=number, region=region, starts=np.append(starts, persons.size), cells=cells)

    @property
    def persons(self) -> int:
        return self.starts.size - 1

    def records(self, members: Integers) -> tuple[Integers, Integers]:
        """Returns (persons, cells): the check-ins of the chosen persons, one row each."""
        rows = [np.arange(self.starts[i], self.starts[i + 1]) for i in members]
        persons = np.repeat(members, [part.size for part in rows])
        return persons, self.cells[np.concatenate(rows)]


def box(region: Region, persons: Integers, lat: Floats, lon: Floats) -> CheckInPlace:
    """Returns a box as the one place."""
    inside = region.contains(lat, lon)
    return CheckInPlace.of(BOX, region, persons[inside], lat[inside], lon[inside])


def densest(
    persons: Integers, lat: Floats, lon: Floats, *, count: int, least_persons: int, split: Split
) -> tuple[CheckInPlace, ...]:
    """Returns the `count` cells with most check-ins among those of the split with at least that many persons.

    persons: (k,) numbered from 0, one row a check-in. Fewer where there are fewer; most check-ins first,
    equals by number.
    """
    numbers = cell_numbers(lat, lon)
    inside = numbers != OUTSIDE
    cells, check_ins = np.unique(numbers[inside], return_counts=True)
    pairs = np.unique(np.stack((numbers[inside], persons[inside])), axis=1)[0]
    visitors = np.unique(pairs, return_counts=True)[1]
    eligible = [i for i in np.flatnonzero(visitors >= least_persons) if split.has(int(cells[i]))]
    best = sorted(eligible, key=lambda i: (-check_ins[i], cells[i]))[:count]
    return tuple(
        CheckInPlace.of(number, cell_region(number), persons[here], lat[here], lon[here])
        for number in cells[best].tolist()
        for here in [numbers == number]
    )


def cell_numbers(lat: Floats, lon: Floats) -> Integers:
    """Returns row · 300 + column of each point, row from lat 0,
    column from lon −135; OUTSIDE the partition.
    """
    row = np.floor((lat - PARTITION.south) * CELLS_A_SIDE / (PARTITION.north - PARTITION.south))
    column = np.floor((lon - PARTITION.west) * CELLS_A_SIDE / (PARTITION.east - PARTITION.west))
    inside = (row >= 0) & (row < CELLS_A_SIDE) & (column >= 0) & (column < CELLS_A_SIDE)
    return np.where(inside, row * CELLS_A_SIDE + column, OUTSIDE).astype(np.int64)


def cell_region(number: int) -> Region:
    """Returns the cell of that number, in degrees."""
    row, column = divmod(number, CELLS_A_SIDE)
    longitudes = np.linspace(PARTITION.west, PARTITION.east, CELLS_A_SIDE + 1)
    latitudes = np.linspace(PARTITION.south, PARTITION.north, CELLS_A_SIDE + 1)
    return Region(
        float(longitudes[column]),
        float(latitudes[row]),
        float(longitudes[column + 1]),
        float(latitudes[row + 1]),
    )
