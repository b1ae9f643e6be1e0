"""Finds the names of places in a region, and where a point lies in words."""

from typing import Final

import numpy as np

from heatmaps.places.gazetteer import GazetteerEntry, gazetteer
from mechanisms.space.grid import Region

_WINDS: Final = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
_FAR_KM: Final = 500


def places_in(region: Region, *, most: int) -> list[GazetteerEntry]:
    """Returns the most populous places of a region, at most `most`, the greatest first."""
    names = gazetteer()
    inside = np.flatnonzero(region.contains(names.lats, names.lons))
    return [names[index] for index in inside[:most].tolist()]


def whereabouts(region: Region) -> str:
    """Says where a region lies in words: "around Austin", its most populous place, or "near Round Rock".

    Empty far from any place.
    """
    inside = places_in(region, most=1)
    if inside:
        return f"around {inside[0].name}"
    names = gazetteer()
    if not len(names):
        return ""
    east_km, north_km = names.ways_from((region.south + region.north) / 2, (region.west + region.east) / 2)
    index = int(np.argmin(np.hypot(east_km, north_km)))
    far = np.hypot(east_km, north_km)[index] > _FAR_KM
    return "" if far else f"near {names[index].name}"


def nearest(lat: float, lon: float) -> str:
    """Says where a point (degrees) lies in words, "4 km north-east of Round Rock".

    Empty far from any place.
    """
    names = gazetteer()
    if not len(names):
        return ""
    east_km, north_km = names.ways_from(lat, lon)
    index = int(np.argmin(north_km**2 + east_km**2))
    return _in_words(names[index].name, float(east_km[index]), float(north_km[index]))


def _in_words(name: str, east_km: float, north_km: float) -> str:
    distance_km = float(np.hypot(east_km, north_km))
    if distance_km < 1:
        return f"Within 1 km of {name}"
    if distance_km > _FAR_KM:
        return ""
    wind = _WINDS[round(float(np.degrees(np.arctan2(north_km, east_km))) / 45) % 8]
    return f"{distance_km:.0f} km {wind} of {name}"
