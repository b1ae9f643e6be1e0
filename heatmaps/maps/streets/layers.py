"""Sorts OpenStreetMap's tags into the layers of a street map, as Protomaps' styles name them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log10
from typing import Final

COAST: Final = "coast"  # no layer: what land and sea are made of
LAYERS: Final = ("earth", "water", "landuse", "buildings", "roads", "places")
FINEST_ZOOM: Final = 14  # 0.6 m a unit at the equator; what is shown closer is drawn from there

# By the value of `highway`: kind, and the first zoom.
_ROADS: Final = {
    "motorway": ("highway", 4),
    "motorway_link": ("highway", 8),
    "trunk": ("major_road", 6),
    "trunk_link": ("major_road", 9),
    "primary": ("major_road", 7),
    "primary_link": ("major_road", 10),
    "secondary": ("major_road", 9),
    "secondary_link": ("major_road", 11),
    "tertiary": ("major_road", 10),
    "tertiary_link": ("major_road", 12),
    "residential": ("minor_road", 11),
    "unclassified": ("minor_road", 11),
    "living_street": ("minor_road", 12),
    "pedestrian": ("minor_road", 12),
    "road": ("minor_road", 12),
    "service": ("minor_road", 13),
    "busway": ("minor_road", 13),
    "track": ("other", 13),
    "cycleway": ("path", 13),
    "footway": ("path", 13),
    "path": ("path", 13),
    "bridleway": ("path", 13),
    "steps": ("path", 13),
}
_RAILS: Final = {"rail": 7, "light_rail": 10, "narrow_gauge": 10, "subway": 11, "tram": 12, "funicular": 12}
_AEROWAYS: Final = {"runway": 9, "taxiway": 11}
_WATERWAYS: Final = {"river": ("river", 8), "canal": ("river", 10), "stream": ("stream", 13)}
_WATER_AREAS: Final = {
    "natural": {"water"},
    "waterway": {"riverbank", "dock"},
    "landuse": {"reservoir", "basin"},
}
_LAND: Final = {
    "aeroway": {"aerodrome": "aerodrome"},
    "amenity": {
        "school": "school",
        "kindergarten": "school",
        "university": "university",
        "college": "college",
        "hospital": "hospital",
        "grave_yard": "cemetery",
    },
    "boundary": {"national_park": "national_park"},
    "highway": {"pedestrian": "pedestrian"},
    "landuse": {
        "allotments": "allotments",
        "cemetery": "cemetery",
        "forest": "forest",
        "grass": "grass",
        "industrial": "industrial",
        "meadow": "grassland",
        "military": "military",
        "recreation_ground": "park",
        "village_green": "village_green",
    },
    "leisure": {
        "garden": "park",
        "golf_course": "golf_course",
        "nature_reserve": "nature_reserve",
        "park": "park",
        "playground": "playground",
    },
    "man_made": {"bridge": "pier", "pier": "pier"},
    "natural": {
        "beach": "beach",
        "glacier": "glacier",
        "grassland": "grassland",
        "heath": "scrub",
        "sand": "sand",
        "scrub": "scrub",
        "wood": "wood",
    },
    "place": {"square": "pedestrian"},
    "tourism": {"zoo": "zoo"},
}
_LOCALITIES: Final = {"city": 5, "town": 8, "village": 10, "hamlet": 12}
_QUARTERS: Final = {"borough": 10, "suburb": 11, "quarter": 12, "neighbourhood": 13}
_FIRST_BUILDINGS: Final = 13
_TEXTS: Final = ("name", "name:en")
_SIDE_TRACKS: Final = {"yard", "siding", "spur", "crossover"}

KEYS: Final = (
    *("highway", "railway", "building", "waterway", "place"),
    *(key for key in _LAND if key not in {"highway", "place"}),
)

Tags = Mapping[str, str]
Properties = dict[str, str | int | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Holds where a feature belongs, and from which zoom on it is drawn."""

    layer: str
    first_zoom: int
    properties: Properties = field(default_factory=dict)


def of_point(tags: Tags) -> Sorted | None:
    """Sorts places that have a name."""
    place = tags.get("place", "")
    zooms = _LOCALITIES | _QUARTERS
    if place not in zooms or "name" not in tags:
        return None
    population = _population(tags.get("population", ""))
    properties: Properties = {
        "kind": "locality" if place in _LOCALITIES else "neighbourhood",
        "kind_detail": place,
        "min_zoom": zooms[place],
        "population_rank": max(0, round(2 * log10(population)) - 1) if population else 0,
    }
    return Sorted(layer="places", first_zoom=zooms[place] - 1, properties=properties | _texts(tags))


def of_line(tags: Tags) -> Sorted | None:
    """Streets, rails, runways, rivers and the coast."""
    if tags.get("natural") == "coastline":
        return Sorted(layer=COAST, first_zoom=0)
    if tags.get("area") == "yes":
        return None
    tunnel = tags.get("tunnel", "no") != "no"
    if "highway" in tags:
        return _street(tags, tunnel)
    return None if tunnel else _rail_or_river(tags)


def _street(tags: Tags, tunnel: bool) -> Sorted | None:
    kind, zoom = _ROADS.get(tags["highway"], ("", 0))
    if not kind or (tunnel and kind in {"path", "other"}):
        return None
    properties: Properties = {"kind": kind, "kind_detail": tags["highway"], **_texts(tags)}
    return _road(zoom, properties | ({"is_tunnel": True} if tunnel else {}))


def _rail_or_river(tags: Tags) -> Sorted | None:
    if (rail := tags.get("railway", "")) in _RAILS:
        side = tags.get("service", "") in _SIDE_TRACKS
        return _road(13 if side else _RAILS[rail], {"kind": "rail", "kind_detail": rail, "is_side": side})
    if (aeroway := tags.get("aeroway", "")) in _AEROWAYS:
        return _road(_AEROWAYS[aeroway], {"kind": "aeroway", "kind_detail": aeroway})
    if waterway := _WATERWAYS.get(tags.get("waterway", "")):
        return Sorted(layer="water", first_zoom=waterway[1], properties={"kind": waterway[0]})
    return None


def of_area(tags: Tags) -> Sorted | None:
    """Sorts water, buildings, and what the land is used for."""
    if any(tags.get(key) in values for key, values in _WATER_AREAS.items()):
        return Sorted(layer="water", first_zoom=0, properties={"kind": "water"})
    if tags.get("building", "no") != "no":
        return Sorted(layer="buildings", first_zoom=_FIRST_BUILDINGS, properties={"kind": "building"})
    for key, kinds in _LAND.items():
        if kind := kinds.get(tags.get(key, "")):
            return Sorted(layer="landuse", first_zoom=6, properties={"kind": kind})
    return None


def _road(first_zoom: int, properties: Properties) -> Sorted:
    return Sorted(layer="roads", first_zoom=first_zoom, properties=properties)


def _texts(tags: Tags) -> Properties:
    return {key: tags[key] for key in _TEXTS if key in tags}


def _population(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
