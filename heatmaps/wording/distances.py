"""Released mean distances in words."""

from dataclasses import dataclass

from heatmaps.lengths import length_words, measured_words
from mechanisms.places import PlaceDistances
from mechanisms.prediction import WITHIN_ERRORS


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceRow:
    """One place of a table."""

    name: str
    distance: str
    least: str
    most: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DistancesWords:
    rows: tuple[DistanceRow, ...]
    error: str
    errors_within: float  # how many of them the least and the most are away


def distances_words(found: PlaceDistances) -> DistancesWords:
    """In the order in which the places were given."""
    error_m = found.standard_error_m
    near_m = WITHIN_ERRORS * error_m
    rows = (
        DistanceRow(
            name=place.name,
            distance=measured_words(distance_m, error_m),
            least=measured_words(max(distance_m - near_m, 0.0), error_m),
            most=measured_words(distance_m + near_m, error_m),
        )
        for place, distance_m in zip(found.places, found.distances_m, strict=True)
    )
    return DistancesWords(rows=tuple(rows), error=length_words(error_m), errors_within=WITHIN_ERRORS)
