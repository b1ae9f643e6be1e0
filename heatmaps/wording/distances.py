"""Words released mean distances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatmaps.numbers import Scale
from heatmaps.result_kinds.kind import SheetPart
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.distances import PlaceDistances
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceRow:
    """Holds one place of a table."""

    name: str
    distance: str
    least: str
    most: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DistancesWords:
    rows: tuple[DistanceRow, ...]
    error: str
    errors_within: float  # how many of them the least and the most are away


def distances_words(result: PlaceDistances, _: Region) -> DistancesWords:
    """Words the distances, in the order in which the places were given."""
    scale = distances_scale(result)
    near_m = WITHIN_ERRORS * result.standard_error_m
    rows = (
        DistanceRow(
            name=place.name,
            distance=scale.nearest(distance_m),
            least=scale.down(max(distance_m - near_m, 0.0)),
            most=scale.up(distance_m + near_m),
        )
        for place, distance_m in zip(result.places, result.distances_m, strict=True)
    )
    error = scale.up(result.standard_error_m)
    return DistancesWords(rows=tuple(rows), error=error, errors_within=WITHIN_ERRORS)


def distances_scale(result: PlaceDistances) -> Scale:
    """Returns the unit and the decimals that all distances and their error have."""
    return Scale.of_lengths(result.standard_error_m, greatest_m=max(result.distances_m))


def sheet_part(result: PlaceDistances, _: Region) -> SheetPart:
    """Returns all places and all that was released."""
    distances = []
    for place, distance_m in zip(result.places, result.distances_m, strict=True):
        lat, lon = place.degrees
        error = {"distance_m": distance_m, "standard_error_m": result.standard_error_m}
        distances.append({"name": place.name, "lat": lat, "lon": lon, **error})
    return SheetPart(
        measures={"distances": distances},
        post_processing=("distances cut to 0 and the diameter of the region",),
    )


def sheet_facts(sheet: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns (title, text) of the distances."""
    error_m = max(row["standard_error_m"] for row in sheet["distances"])
    scale = Scale.of_lengths(error_m, greatest_m=max(row["distance_m"] for row in sheet["distances"]))
    lengths = ((row["name"], scale.nearest(row["distance_m"])) for row in sheet["distances"])
    facts = ((name, f"{length} away on average") for name, length in lengths)
    return (*facts, ("Standard error of each", scale.up(error_m)))
