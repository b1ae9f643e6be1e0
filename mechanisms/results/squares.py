"""Lists the squares of a released map by level, as maps and sums compute with them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.summands import Summands
from mechanisms.space.grid import morton_decode

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DIGITS: Final = 4  # for browsers: errors of a few in ten thousand are no matter there
_AT_ONCE: Final = 4_096  # squares: what follows each other lies together, so memory stays small


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Squares:
    """Holds released squares of one level, in Morton order: arrays of shape (k,)."""

    level: int
    x: Integers = field(repr=False)  # from west
    y: Integers = field(repr=False)  # from north
    values: Floats = field(repr=False)  # persons
    deviations: Floats = field(repr=False)  # persons

    def parts(self) -> Iterator["Squares"]:
        """Yields the same squares, few at a time."""
        for begin in range(0, self.x.size, _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            yield Squares(
                level=self.level,
                x=self.x[some],
                y=self.y[some],
                values=self.values[some],
                deviations=self.deviations[some],
            )

    def rounded(self) -> "Squares":
        """Returns the squares with values and deviations to four digits, as browsers get them."""
        return replace(self, values=_rounded(self.values), deviations=_rounded(self.deviations))


def squares_of(summands: Summands) -> list[Squares]:
    """Returns the squares of each level, the coarsest first."""
    return [_of_level(summands, level) for level in np.unique(summands.levels).tolist()]


def _of_level(summands: Summands, level: int) -> Squares:
    here = summands.levels == level
    x, y = morton_decode(summands.prefixes[here], level)
    return Squares(
        level=level,
        x=x,
        y=(1 << level) - 1 - y,
        values=summands.values[here],
        deviations=summands.deviations[here],
    )


def _rounded(values: Floats) -> Floats:
    return np.array([float(f"{value:.{_DIGITS}g}") for value in values.tolist()], np.float64)
