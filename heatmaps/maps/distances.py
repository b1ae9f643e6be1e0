"""Released mean distances for people: a circle around each place, with number and distance."""

from typing import Final

from heatmaps.lengths import measured_words
from heatmaps.maps.point import circle_around
from heatmaps.maps.rings import DrawnRing, RingParts, parts_of
from mechanisms.grid import Region
from mechanisms.places import PlaceDistances

LEGEND: Final = "Around each place: as far as everybody's check-ins are from it on average"
CIRCLE: Final = "distance"  # class of a circle


def distance_parts(found: PlaceDistances, region: Region) -> RingParts:
    """Distances as Leaflet shows them, before they become a document."""
    return parts_of(drawn_circles(found), region, legend=LEGEND)


def drawn_circles(found: PlaceDistances) -> tuple[DrawnRing, ...]:
    """Large ones first, so that no circle is hidden under another."""
    several = enumerate(zip(found.places, found.distances_m, strict=True), start=1)
    drawn = []
    for number, (place, distance_m) in several:
        ring = circle_around(*place.degrees, distance_m)
        text = f"{number} · {measured_words(distance_m, found.standard_error_m)}"
        drawn.append((distance_m, DrawnRing(corners=ring, key=CIRCLE, text=text, middle=place.degrees)))
    return tuple(one for _, one in sorted(drawn, key=lambda pair: -pair[0]))
