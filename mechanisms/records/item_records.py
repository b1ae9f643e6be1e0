"""Holds persons' records for sampling: how many check-ins in which cells, person after person."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range
from mechanisms.space.grid import FINEST_LEVEL

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemRecords:
    """Holds the records of the k persons with check-ins, one row a person and cell, ordered by person.

    It says nothing of who they are. Errors: ValueError, without any value in it.
    """

    level: int
    rows: Integers = field(repr=False)  # (k,) cells of each person, above 0
    cells: Integers = field(repr=False)  # (m,) Morton codes at `level`
    counts: Integers = field(repr=False)  # (m,) check-ins in them, above 0

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        if int(self.rows.sum()) != self.cells.size or self.cells.shape != self.counts.shape:
            raise ValueError("rows must sum to the number of cells, each with a number of check-ins")
        if (self.rows <= 0).any() or (self.counts <= 0).any():
            raise ValueError("rows and numbers of check-ins must be above 0")
        if self.cells.size and (self.cells.min() < 0 or self.cells.max() >= 4**self.level):
            raise ValueError("cells are Morton codes of the level")

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self:
        """Concatenates records of different persons, of one level; at least one of them."""
        if any(part.level != parts[0].level for part in parts):
            raise ValueError("records of different levels cannot be joined")
        rows, cells, counts = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "cells", "counts")
        )
        return cls(level=parts[0].level, rows=rows, cells=cells, counts=counts)

    @property
    def persons(self) -> int:
        """Returns the number of persons with check-ins; data."""
        return self.rows.size

    @property
    def lengths(self) -> Integers:
        """Returns the check-ins of each, `(k,)`."""
        ends = np.cumsum(self.counts)[np.cumsum(self.rows) - 1] if self.rows.size else self.rows
        return np.diff(ends, prepend=0)
