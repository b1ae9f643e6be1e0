"""Holds what is public already about where people are, for mechanisms that can begin from it."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError
from mechanisms.frozen_arrays import freeze
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements
from mechanisms.space.grid import paint

SIDE: Final = 64  # cells of a guide, a side
LEVEL: Final = SIDE.bit_length() - 1
MOST_MEASURED: Final = 16  # measurements that a guide brings along; a longer chain is a guide alone
WHOLE: Final = 2**30  # parts that the shares of all cells add up to, but for rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guide:
    """Holds shares of people by cell of a 64 × 64 grid of the region, from a map that is public.

    Steers utility only: a guide that is wrong costs accuracy, never privacy, as long as it was public before.
    Equal guides have equal `sha256`.
    """

    shares: NDArray[np.int64] = field(repr=False)  # (4096,) parts of `WHOLE`; rows from the north
    # What was measured for it, where that was of the very masses that are to be measured now.
    measured: Measurements | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze(self, shares=np.int64)
        if self.shares.size != SIDE**2 or (self.shares < 0).any() or not self.shares.any():
            raise ParameterError("guide", "a map", f"{SIDE} by {SIDE} shares, none below 0, not all 0")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guide) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    @classmethod
    def of_values(cls, values: NDArray[np.float64]) -> Self:
        """Returns the guide of (64, 64) values, row 0 north. Errors: `ParameterError` unless all are finite
        and at least 0, and one is above 0."""
        total = float(values.sum()) if values.shape == (SIDE, SIDE) and (values >= 0).all() else np.nan
        if not (np.isfinite(total) and total > 0):
            allowed = f"{SIDE} by {SIDE} finite values, none below 0, not all 0"
            raise ParameterError("guide", "a map", allowed)
        return cls(shares=np.round(values / total * WHOLE).astype(np.int64).ravel())

    @classmethod
    def of_map(cls, heatmap: Heatmap, *, same_people: bool = False) -> Self:
        """Returns the guide of a published map of the same region.

        same_people: it was drawn from the same data version and slice, so that what was measured for it can
        be counted as a measurement of the same masses, where it holds what was measured.
        """
        measured = heatmap.measurements if same_people else None
        if measured is not None and len(measured.parts) >= MOST_MEASURED:
            measured = None
        fine = np.zeros((SIDE, SIDE))
        coarse = heatmap.levels <= LEVEL
        levels, prefixes = heatmap.levels[coarse], heatmap.prefixes[coarse]
        paint(fine, levels, prefixes, heatmap.values[coarse] / 4.0 ** (LEVEL - levels.astype(np.int64)))
        inside = heatmap.prefixes[~coarse] >> 2 * (heatmap.levels[~coarse].astype(np.int64) - LEVEL)
        cells, places = np.unique(inside, return_inverse=True)
        sums = np.bincount(places, weights=heatmap.values[~coarse], minlength=cells.size)
        own = np.zeros((SIDE, SIDE))
        paint(own, np.full(cells.size, LEVEL, np.uint8), cells, sums)
        values = fine + own
        guide = cls.of_values(values if values.any() else np.ones((SIDE, SIDE)))
        return replace(guide, measured=measured)

    @property
    def sha256(self) -> str:
        """Returns the hexadecimal digest of what it holds."""
        measured = b"" if self.measured is None else self.measured.to_bytes()
        return hashlib.sha256(self.shares.astype("<i8").tobytes() + measured).hexdigest()
