"""Draws rings on a map, zones or circles around places, each with a sign in its middle."""

from dataclasses import asdict, dataclass
from typing import Final

from heatmaps.maps.document import MapLayer, MapParts, basemap, content_of
from heatmaps.maps.legend import LegendClass
from mechanisms.space.grid import Region

_NOTE: Final = "Numbers on the map are those of the table."


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRing:
    """Holds (latitude, longitude) of the corners, closed, the class it is drawn in, and its sign."""

    corners: list[tuple[float, float]]
    key: str
    text: str  # a number and what was released; names are in the table
    middle: tuple[float, float]
    name: str  # "Zone 3", as the table numbers it
    told: str  # what was released, with its error
    weight: float  # of its sign: where there is no room for two, the greater one stays


def parts_of(
    rings: tuple[DrawnRing, ...],
    region: Region,
    *,
    legend: str,
    meaning: str,
    rows: tuple[LegendClass, ...] = (),
) -> MapParts:
    """Returns rings with their signs, in that order, as Leaflet shows them. meaning: of the number that is
    told."""
    marks = MapLayer("rings", {"rings": [asdict(ring) for ring in rings], "meaning": meaning})
    layers = [basemap(region), marks]
    return MapParts(**content_of(region, layers), legend=legend, rows=rows, note=_NOTE)
