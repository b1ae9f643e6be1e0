"""Fixes candidate points by a region alone, and computes exact distances to them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import Region

MICRO: Final = 10**6  # micrometres a metre
# A record's mean position is off by: half a finest cell (1 part) for the check-ins, half a part for
# rounding the mean, and less than half a part for the edges of finest cells in floating point.
_PARTS_OFF: Final = 2
_DIGITS: Final = 48
LARGEST_STRETCH: Final = 2.5
_FLAT_ENOUGH: Final = (
    "for a promise in metres, a region of less than 180 degrees of longitude whose flat map "
    f"stretches distances at most {LARGEST_STRETCH:g} times; choose a smaller region, or a mechanism whose "
    "promise does not depend on distance"
)


@dataclass(frozen=True, slots=True)
class Plane:
    """Holds a region's projection (`Region`) in whole micrometres, rounded up, for promises in metres.

    Errors: `ParameterError` for a region that is too wide for them: where the projection may stretch
    distances more than `LARGEST_STRETCH` times, as it may from less than 180 degrees of longitude on.
    """

    region: Region

    def __post_init__(self) -> None:
        if self.region.stretch > LARGEST_STRETCH:
            raise ParameterError("region", ",".join(f"{edge:g}" for edge in self.region), _FLAT_ENOUGH)

    @property
    def width_um(self) -> int:
        return math.ceil(Fraction(self.region.width_m) * MICRO)

    @property
    def height_um(self) -> int:
        return math.ceil(Fraction(self.region.height_m) * MICRO)

    @property
    def diameter_um(self) -> int:
        return math.isqrt(self.width_um**2 + self.height_um**2) + 1

    @property
    def rounding_um(self) -> int:
        """Returns the most that storing check-ins and rounding means add to the distance of two records.

        Rounding the sides to micrometres stretches it by at most a micrometre each way.
        """
        return 2 * _PARTS_OFF * self.diameter_um // PARTS + 1 + 2

    @property
    def stretch(self) -> Fraction:
        """Returns a bound on projected distance / distance on the ground."""
        return rounded_up(Fraction(self.region.stretch))

    @property
    def shrink(self) -> Fraction:
        """Returns a bound on distance on the ground / projected distance."""
        return rounded_up(Fraction(self.region.shrink))


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """Holds the middles of `columns` × `rows` equal rectangles that make up a region."""

    region: Region
    width_um: int
    height_um: int
    columns: int
    rows: int

    @classmethod
    def of(cls, region: Region, spacing_m: Fraction) -> Self:
        """Returns the net of as few candidates as have neighbours at most `spacing_m` apart; every place of
        the region is within 0.71 spacings of one."""
        sides = Plane(region).width_um, Plane(region).height_um
        columns, rows = (max(1, math.ceil(side / (spacing_m * MICRO))) for side in sides)
        return cls(region=region, width_um=sides[0], height_um=sides[1], columns=columns, rows=rows)

    @property
    def size(self) -> int:
        return self.columns * self.rows

    def squares(self, means: RecordMeans, columns: range, rows: range) -> tuple[list[int], list[int], int]:
        """Returns (of columns, of rows, D): the squared distance of the mean to a candidate is exactly the
        sum of its column's and its row's integer, divided by D², in square micrometres."""
        n = means.persons
        across = [means.x * self.columns - (2 * c + 1) * (PARTS // 2) * n for c in columns]
        along = [means.y * self.rows - (2 * r + 1) * (PARTS // 2) * n for r in rows]
        of_columns = [(part * self.width_um * self.rows) ** 2 for part in across]
        of_rows = [(part * self.height_um * self.columns) ** 2 for part in along]
        return of_columns, of_rows, n * self.columns * self.rows * PARTS

    def window(self, means: RecordMeans, reach_um: Fraction) -> tuple[range, range]:
        """Returns the columns and rows that hold every candidate nearer than `reach_um` to the mean."""
        x, y = Fraction(means.x, means.persons * PARTS), Fraction(means.y, means.persons * PARTS)
        return (
            _near(x, reach_um / self.width_um, self.columns),
            _near(y, reach_um / self.height_um, self.rows),
        )

    def place(self, column: int, row: int) -> tuple[float, float]:
        """Returns (latitude, longitude) of a candidate."""
        box = self.region
        lat = box.south + (box.north - box.south) * (2 * row + 1) / (2 * self.rows)
        lon = box.west + (box.east - box.west) * (2 * column + 1) / (2 * self.columns)
        return lat, lon

    def distances_m(self, x: float, y: float, reach_m: float) -> NDArray[np.float64]:
        """Returns `(k,)` metres from a place (shares of width and height) to the candidates of its window.

        In floating point: for predictions only.
        """
        width_m, height_m = self.width_um / MICRO, self.height_um / MICRO
        columns = _near(Fraction(x), Fraction(reach_m / width_m), self.columns)
        rows = _near(Fraction(y), Fraction(reach_m / height_m), self.rows)
        across = ((np.arange(columns.start, columns.stop) + 0.5) / self.columns - x) * width_m
        along = ((np.arange(rows.start, rows.stop) + 0.5) / self.rows - y) * height_m
        return np.hypot(across[:, np.newaxis], along[np.newaxis, :]).ravel()


def rounded_up(value: Fraction) -> Fraction:
    """Rounds up to `_DIGITS` significant binary digits, at least."""
    shift = _DIGITS - value.numerator.bit_length() + value.denominator.bit_length()
    return math.ceil(value * Fraction(2) ** shift) / Fraction(2) ** shift


def _near(share: Fraction, reach: Fraction, count: int) -> range:
    """Returns cells of an axis whose middle is at most `reach` from `share`, in shares of the axis."""
    first = math.floor((share - reach) * count - Fraction(1, 2))
    last = math.ceil((share + reach) * count - Fraction(1, 2))
    return range(max(0, first), min(count, last + 1))
