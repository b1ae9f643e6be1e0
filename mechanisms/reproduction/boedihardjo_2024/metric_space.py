"""Gives a finite set two metrics: one that privacy is measured in, one that errors are measured in."""

from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
MOST_POINTS: Final = 2000
_DIGITS: Final = 12  # distances that differ by rounding alone become equal
_SAME: Final = 1e-11  # of the largest distance: two distances that differ by less are equal
_TOLERANCE: Final = 1e-9  # relative, of the triangle inequality


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteSpace:
    """Holds (Z, ρ₁, ρ₂) of Boedihardjo, Strohmer, Vershynin 2024 as two `(points, points)` matrices.

    `first` (ρ₁) is what privacy is measured in, `second` (ρ₂) what errors are measured in. Both keep 12
    significant digits. Errors: ValueError for a matrix that is no metric.
    """

    first: Floats = field(repr=False)
    second: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            distances = _rounded(np.asarray(getattr(self, name), dtype=np.float64))
            if problem := _problem(distances):
                raise ValueError(f"{name} is no metric: {problem}")
            distances.flags.writeable = False
            object.__setattr__(self, name, distances)
        if self.first.shape != self.second.shape:
            raise ValueError("both metrics need the same points")

    @classmethod
    def of(cls, distances: ArrayLike) -> Self:
        """Returns the space with one metric for both."""
        own = np.asarray(distances, dtype=np.float64)
        return cls(first=own, second=own)

    @classmethod
    def of_points(cls, points: ArrayLike, *, order: float = 2) -> Self:
        """Returns the space of `(points, dimensions)` with the distance
        of the norm of this order: 1, 2, `math.inf`.
        """
        own = np.asarray(points, dtype=np.float64)
        return cls.of(np.linalg.norm(own[:, np.newaxis] - own, ord=order, axis=-1))

    @property
    def size(self) -> int:
        return len(self.first)

    @property
    def diameter(self) -> float:
        """Returns the diameter in the second metric."""
        return float(self.second.max())

    def scales(self) -> Floats:
        """Returns, ascending, 0 and all distances of the second metric.
        Between two of them no packing changes.
        """
        return np.unique(self.second)


def within(distances: Floats, radius: float) -> NDArray[np.bool_]:
    """Returns which distances are at most `radius`, up to rounding."""
    return np.asarray(distances <= radius + _SAME * distances.max(initial=0.0))


def is_ultrametric(distances: Floats) -> bool:
    """Returns whether ρ(x, z) ≤ max(ρ(x, y), ρ(y, z)) for all points, up to rounding."""
    return all(
        (distances <= np.maximum(column[:, np.newaxis], column) * (1 + _TOLERANCE)).all()
        for column in distances
    )


def _rounded(distances: Floats) -> Floats:
    """Rounds to `_DIGITS` significant digits of the largest distance."""
    largest = float(np.abs(distances).max(initial=0.0))
    if not np.isfinite(largest) or largest == 0:
        return distances.copy()
    return np.round(distances / largest, _DIGITS) * largest


def _problem(distances: Floats) -> str | None:
    if distances.ndim != 2 or len(set(distances.shape)) != 1 or not 1 <= len(distances) <= MOST_POINTS:
        return f"a square matrix of 1 to {MOST_POINTS} points is needed"
    if not np.isfinite(distances).all() or (distances != distances.T).any():
        return "distances must be finite and the same both ways"
    if distances.diagonal().any() or (distances + np.eye(len(distances)) <= 0).any():
        return "distances must be 0 from a point to itself and above 0 otherwise"
    longest = distances * (1 - _TOLERANCE)
    if any((longest > column[:, np.newaxis] + column).any() for column in distances):
        return "the triangle inequality fails"
    return None
