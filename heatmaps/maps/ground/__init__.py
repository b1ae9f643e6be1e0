"""Finds coast, water and borders for a map, from our own origin and without tiles.

They come from npm packages that are indexed at set-up; without them a map has no ground, and says so.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from django.conf import settings

from heatmaps.maps.ground.countries import Country
from heatmaps.maps.ground.index import COUNTRIES, DETAILS
from heatmaps.maps.ground.shapes import UNITS, Box, Outline, Shapes
from mechanisms.space.grid import Region

ATTRIBUTION: Final = "Coast and water: © OpenStreetMap contributors (ODbL) · Borders: Natural Earth"
MISSING: Final = "Coast and borders are not installed; `make setup` with npm adds them."
_FINENESS: Final = 4_096  # units of a map's own lattice from west to east: more than a screen has pixels
_LEAST_EXTENT: Final = 3  # units: smaller water is no pixel of a screen
_MOST_NUMBERS: Final = 160_000  # two a point: at most some 150 kB, compressed

Steps = list[int]  # x, y of an outline's first point, then the way to each next one


def ground_of(region: Region) -> dict[str, object]:
    """Returns the ground under a map of the region.

    Outlines are in `unit`s of degrees east and north of `origin`.
    """
    box = _box(region)
    try:
        unit, sea, lakes = _water(box)
        borders = _shapes("borders", _detail(unit)).lines_in(box)
        countries = [asdict(country) for country in _countries() if country.is_in(box)]
    except FileNotFoundError:
        return {"missing": MISSING}
    return {
        "origin": [box[0] / UNITS, box[1] / UNITS],
        "unit": unit / UNITS,
        "sea": sea,
        "lakes": lakes,
        "borders": list(_steps(borders, box, unit, least=2)),
        "countries": countries,
        "attribution": ATTRIBUTION,
    }


def attribution() -> str:
    """Names the ground's owner, as a picture says it; empty where it is not installed."""
    return ATTRIBUTION if (Path(settings.GROUND_DIR) / f"borders-{DETAILS[-1]}.npz").exists() else ""


def _box(region: Region) -> Box:
    west, south, east, north = (round(degrees * UNITS) for degrees in region)
    return west, south, east, north


def _water(box: Box) -> tuple[int, list[Steps], list[Steps]]:
    """Returns the lattice of the map, and rings on it: the finest that leaves the map small enough to be
    sent."""
    unit = max(1, (box[2] - box[0]) // _FINENESS)
    while True:
        sea, lakes = (
            list(
                _steps(
                    _shapes(kind, _detail(unit)).rings_in(box, least=_LEAST_EXTENT * unit), box, unit, least=4
                )
            )
            for kind in ("sea", "lakes")
        )
        if sum(map(len, sea + lakes)) <= _MOST_NUMBERS:
            return unit, sea, lakes
        unit *= 2


def _detail(unit: int) -> int:
    """Returns the coarsest index that is fine enough."""
    return max(detail for detail in DETAILS if detail <= max(unit, DETAILS[0]))


def _steps(outlines: Iterable[Outline], box: Box, unit: int, *, least: int) -> Iterator[Steps]:
    origin = np.array(box[:2])
    for outline in outlines:
        lattice = (outline - origin + unit // 2) // unit
        moves = lattice[1:] - lattice[:-1]
        moves = moves[moves.any(axis=1)]
        if len(moves) >= least - 1:
            yield np.vstack((lattice[:1], moves)).ravel().tolist()


@lru_cache(maxsize=3 * len(DETAILS))
def _shapes(kind: str, detail: int) -> Shapes:
    return Shapes.load(Path(settings.GROUND_DIR) / f"{kind}-{detail}.npz")


@lru_cache(maxsize=1)
def _countries() -> list[Country]:
    """Returns the countries; empty where the index was made before it had them."""
    file = Path(settings.GROUND_DIR) / COUNTRIES
    return [Country(**country) for country in json.loads(file.read_bytes())] if file.exists() else []
