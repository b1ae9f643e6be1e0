"""Defines what predicted errors are: numbers with a sentence each (`error_bounds`)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from mechanisms.space.grid import Region

# Standard errors that 95 % of draws keep: ln 20/√2 for Laplace noise, and no more for what falls off faster.
WITHIN_ERRORS: Final = 2.12
POINT_QUANTITY: Final = (
    "Expected distance between the released point and the mean of all people, each at the mean of their "
    "check-ins; with probability 95 % it is at most the second distance."
)
FARTHEST: Final = 2.0  # L1 diameter of the unit square
MAP_QUANTITY: Final = (
    "Upper bound on the expected earth mover's distance between the released and the true map, both with "
    "sum 1, with L1 distance on the unit square, where 2 is the largest possible value."
)


class ExpectedError(Protocol):
    """Holds numbers with a sentence each on what they are of and when they hold: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def upper_m(self, region: Region) -> float | None:
        """Returns the upper end in metres, of a result about the region; None where it is no distance."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBound:
    """Holds a documented bound on the expected earth mover's distance of the normalised map.

    `emd` is on the unit square with L1 ground distance, capped at its largest possible value.
    `quantity` and `assumptions` are one plain sentence each: what is bounded, and what is left out.
    """

    emd: float
    quantity: str
    assumptions: str

    def upper_m(self, region: Region) -> float | None:
        """Returns the upper end in metres, of a map of the region."""
        return self.emd * max(region.width_m, region.height_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorForecast(ErrorBound):
    """Forecasts from errors on real check-ins what is likely elsewhere, where no useful bound can be proved.

    Nine of ten maps had an error between `emd_low` and `emd`, half of them one below `emd_median`.
    """

    emd_low: float
    emd_median: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PointError:
    """Says how far a released point may be from the true one, in metres of the region's projection.

    `expected_m` is the mean distance, `within_m` the distance kept with probability 95 %; both are the
    largest of a few places where the truth may be. Sentences as in `ErrorBound`.
    """

    expected_m: float
    within_m: float
    quantity: str
    assumptions: str

    def upper_m(self, region: Region) -> float | None:
        """Returns the distance that is kept with probability 95 %, wherever the truth is."""
        del region
        return self.within_m


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareError:
    """Says how far released shares of all people may be from the true ones. Sentences as in `ErrorBound`."""

    share: float  # standard error of each
    quantity: str
    assumptions: str

    def upper_m(self, region: Region) -> float | None:
        """Returns None: it is no distance."""
        del region
        return None
