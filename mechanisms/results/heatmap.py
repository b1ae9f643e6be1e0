"""Holds a released map: disjoint quadtree regions with values and errors."""

import hashlib
import math
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, in_range
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.frozen_arrays import freeze
from mechanisms.results import heatmap_bytes
from mechanisms.results.measurements import Measurements
from mechanisms.results.significance import SignificantSquares, low_ends
from mechanisms.space.grid import FINEST_LEVEL, paint

DENSE_SIDE_LIMIT: Final = 4096  # cells a side: 128 MB of float64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heatmap:
    """Holds a released map: disjoint quadtree regions with the mass spread evenly in each.

    A region of level a covers 4^(level-a) cells; what is not listed has the value 0. Regions are put in
    Morton order. Errors: ValueError when regions overlap or a value is negative or not finite.
    """

    level: int
    levels: NDArray[np.uint8] = field(repr=False)  # (k,)
    prefixes: NDArray[np.int64] = field(repr=False)  # (k,) Morton codes at their own level
    values: NDArray[np.float64] = field(repr=False)  # (k,) persons
    # (k,) persons: `WITHIN_ERRORS` of them to either side hold the truth in 95 of 100; nan: not stated
    standard_errors: NDArray[np.float64] = field(repr=False)
    significant: SignificantSquares | None = field(
        default=None, repr=False
    )  # from empty squares; None: nothing is said
    cut_error: float = math.nan  # persons, of each finest cell in no region, cut to 0; nan: not stated
    # (k,) ends of 95 % intervals in persons, where they are not `WITHIN_ERRORS` errors to either side
    lows: NDArray[np.float64] | None = field(default=None, repr=False)
    highs: NDArray[np.float64] | None = field(default=None, repr=False)
    # (k,) persons: what a region adds to the error of a sum of several, in quadrature; None: not stated.
    # Maps in rectangles of before have them, and they are false where the guide is wrong.
    deviations: NDArray[np.float64] | None = field(default=None, repr=False)
    significance_floor: float = math.nan  # persons: a region was told for being above it; nan: not so
    total: float = math.nan  # persons in all, estimated without cutting anything; nan: not stated
    total_error: float = math.nan  # persons, standard error of `total`
    # What the map was made from, for later maps of the same data; None: it is not kept.
    measurements: Measurements | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        optional = self._optional()
        freeze(
            self,
            levels=np.uint8,
            prefixes=np.int64,
            **dict.fromkeys(("values", "standard_errors", *optional), np.float64),
        )
        if not (np.isfinite(self.values) & (self.values >= 0)).all():
            raise ValueError("values must be finite and at least 0")
        self._put_in_order()

    def _put_in_order(self) -> None:
        if (self.levels > self.level).any():
            raise ValueError("regions must lie in the grid")
        levels = self.levels.astype(np.int8)  # no larger: a map may have 17 million regions
        up = 2 * (np.int8(self.level) - levels)
        if (self.prefixes < 0).any() or (self.prefixes >> 2 * levels).any():
            raise ValueError("regions must lie in the grid")
        first = self.prefixes << up
        if (first[1:] - first[:-1] >= np.int64(1) << up[:-1]).all():
            return  # as every stored map
        order = np.argsort(first, kind="stable")
        if (np.diff(first[order]) < (np.int64(1) << up[order])[:-1]).any():
            raise ValueError("regions must not overlap")
        for name in ("levels", "prefixes", "values", "standard_errors", *self._optional()):
            array = getattr(self, name)[order]
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _optional(self) -> list[str]:
        return [name for name in heatmap_bytes.OPTIONAL if getattr(self, name) is not None]

    @property
    def resolution(self) -> int:
        """Returns cells a side."""
        return 1 << self.level

    @property
    def is_in_rectangles(self) -> bool:
        """Returns whether rectangles were measured that the squares are parts of, as a guide fills them."""
        return self.measurements is not None and self.measurements.shares is not None

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns `(k,)` ends of 95 % intervals in persons; nan where no error is stated."""
        if self.lows is not None and self.highs is not None:
            return self.lows, self.highs
        reach = WITHIN_ERRORS * self.standard_errors
        lows = np.maximum(self.values - reach, 0)
        if self.significant is not None and not math.isnan(self.significance_floor):
            is_significant = self.significant.has(self.levels, self.prefixes)
            scale = self.standard_errors[is_significant] / math.sqrt(
                2
            )  # of the Laplace law with this deviation
            lows[is_significant] = low_ends(
                self.values[is_significant], floor=self.significance_floor, scale=scale
            )
        return lows, self.values + reach

    def check_dense(self) -> None:
        """Refuses grids too fine to write every cell. Errors: `ParameterError` naming `resolution`."""
        if self.resolution > DENSE_SIDE_LIMIT:
            raise ParameterError("resolution", self.resolution, f"at most {DENSE_SIDE_LIMIT} for a dense map")

    def dense(self) -> NDArray[np.float64]:
        """Returns `(2^level, 2^level)`, row 0 north, column 0 west, sum 1; uniform if every value is 0.

        Errors: `ParameterError` naming `resolution` above 4096 cells a side.
        """
        self.check_dense()
        grid = np.zeros((self.resolution, self.resolution))
        paint(grid, self.levels, self.prefixes, self.values / 4.0 ** (self.level - self.levels))
        total = grid.sum()
        if not total > 0:
            return np.full_like(grid, 1 / grid.size)
        grid /= total
        return grid

    def to_bytes(self) -> bytes:
        """Returns bytes, versioned and compressed; the same map gives the same bytes."""
        return heatmap_bytes.packed(
            heatmap_bytes.Parts(
                level=self.level,
                levels=self.levels,
                prefixes=self.prefixes,
                values=self.values,
                standard_errors=self.standard_errors,
                significant=self.significant,
                cut_error=self.cut_error,
                lows=self.lows,
                highs=self.highs,
                deviations=self.deviations,
                significance_floor=self.significance_floor,
                total=self.total,
                total_error=self.total_error,
                measurements=self.measurements,
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the map that `to_bytes` wrote. Errors: ValueError for anything else."""
        return cls(**heatmap_bytes.unpacked(data)._asdict())

    @property
    def sha256(self) -> str:
        """Returns the hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()
