"""Draws released mean distances: a circle around each place, with number and distance."""

from typing import Final

from heatmaps.maps.document import MapParts
from heatmaps.maps.point import circle_around
from heatmaps.maps.rings import DrawnRing, parts_of
from heatmaps.wording.distances import distances_scale
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.distances import PlaceDistances
from mechanisms.space.grid import Region

LEGEND: Final = "Around each place: as far as everybody's check-ins are from it on average"
MEANING: Final = "away on average; ± is what noise may add, 19 times in 20"
CIRCLE: Final = "distance"  # class of a circle


def distance_parts(result: PlaceDistances, region: Region) -> MapParts:
    """Returns distances as Leaflet shows them, before they become a document."""
    return parts_of(drawn_circles(result), region, legend=LEGEND, meaning=MEANING)


def drawn_circles(result: PlaceDistances) -> tuple[DrawnRing, ...]:
    """Returns large circles first, so that none is hidden under another."""
    scale = distances_scale(result)
    within = scale.up(WITHIN_ERRORS * result.standard_error_m)
    numbered_places = enumerate(zip(result.places, result.distances_m, strict=True), start=1)
    rings = [
        DrawnRing(
            corners=circle_around(*place.degrees, distance_m),
            key=CIRCLE,
            text=f"{number} · {scale.nearest(distance_m)}",
            middle=place.degrees,
            name=f"Place {number}",
            told=f"{scale.nearest(distance_m).removesuffix(scale.unit)} ± {within}",
            weight=distance_m,
        )
        for number, (place, distance_m) in numbered_places
    ]
    return tuple(sorted(rings, key=lambda ring: -ring.weight))
