"""Indexes coast, lakes and borders of the front-end packages, once, at set-up."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from heatmaps.maps.ground.countries import countries_of
from heatmaps.maps.ground.shapes import UNITS, Outline, Shapes, extents, small_rings, snapped

# The lattice of each level of detail, in units: 1 m, 1 km and 9 km.
DETAILS: Final = (1, 1_000, 8_000)
_SEAS: Final = "@geo-maps/earth-seas-10m/map.geo.json"
_LAKES: Final = "@geo-maps/earth-lakes-10m/map.geo.json"
_COUNTRIES: Final = "world-atlas/countries-10m.json"
_NAMES: Final = "world-atlas/countries-110m.json"  # where its outlines are coarse, names stand as well
COUNTRIES: Final = "countries.json"
_LEAST_EXTENT: Final = 3  # of an outline, in its lattice
# Characters, about 75 points: in that file the outlines of smaller lakes are squares of a kilometre.
_SHORTEST_LAKE: Final = 1_500


def build(packages: Path, folder: Path) -> None:
    """Writes the index of the packages in `node_modules`; what was there is replaced whole.

    Errors: FileNotFoundError for a package that is missing, ValueError for one of another shape.
    """
    rings = {
        "sea": list(_rings(packages / _SEAS, 0)),
        "lakes": list(_rings(packages / _LAKES, _SHORTEST_LAKE)),
    }
    countries = countries_of(json.loads((packages / _NAMES).read_bytes()))
    borders = list(_borders(json.loads((packages / _COUNTRIES).read_bytes())))
    folder.mkdir(parents=True, exist_ok=True)
    for public in (folder, folder.parent):
        public.chmod(0o755)
    names = json.dumps([asdict(country) for country in countries])
    _replace(folder / COUNTRIES, lambda path: path.write_text(names, "utf-8"))
    for detail in DETAILS:
        for kind, outlines in rings.items():
            pieces = (piece for ring in _coarse(outlines, detail, least=4) for piece in small_rings(ring))
            _replace(folder / f"{kind}-{detail}.npz", Shapes.of(pieces).save)
        _replace(folder / f"borders-{detail}.npz", Shapes.of(_coarse(borders, detail, least=2)).save)


def _coarse(outlines: list[Outline], detail: int, *, least: int) -> Iterator[Outline]:
    """Yields the outlines that show on a map of that detail, on its lattice."""
    if detail == DETAILS[0]:
        yield from outlines
        return
    first = np.cumsum([0, *(len(outline) for outline in outlines[:-1])])
    west, south, east, north = extents(np.concatenate(outlines), first).T
    large = np.maximum(east - west, north - south) > _LEAST_EXTENT * detail
    for index in np.flatnonzero(large).tolist():
        coarse = snapped(outlines[index], detail)
        if len(coarse) >= least:
            yield coarse


def _replace(path: Path, save: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        target = Path(folder) / path.name
        save(target)
        target.chmod(0o644)  # public, and the server may be another user
        target.replace(path)


def _rings(path: Path, shortest: int) -> Iterator[Outline]:
    """Yields every ring of a file that holds one MultiPolygon; polygons of fewer characters are left out.

    Read as text: as JSON it would take a second and 340 MB for the seas, and five and 600 MB for the lakes.
    """
    text = path.read_bytes()
    begin, end = text.find(b"[[[["), text.rfind(b"]]]]")
    if begin < 0 or end < begin:
        raise ValueError(f"{path.name} holds no MultiPolygon")
    for polygon in text[begin + 4 : end].split(b"]]],[[["):
        if len(polygon) >= shortest:
            for ring in polygon.split(b"]],[["):
                degrees = np.fromstring(ring.replace(b"],[", b",").decode(), sep=",")
                yield np.round(degrees.reshape(-1, 2) * UNITS).astype(np.int32)


def _borders(topology: dict[str, Any]) -> Iterator[Outline]:
    """Yields arcs that two countries share; coasts are drawn as water."""
    uses = np.zeros(len(topology["arcs"]), np.int64)
    for country in topology["objects"]["countries"]["geometries"]:
        for arc in _arcs(country["arcs"]):
            uses[arc] += 1
    scale, origin = topology["transform"]["scale"], topology["transform"]["translate"]
    for arc in np.flatnonzero(uses > 1).tolist():
        degrees = np.cumsum(topology["arcs"][arc], axis=0) * scale + origin
        yield np.round(degrees * UNITS).astype(np.int32)


def _arcs(nested: Any) -> Iterator[int]:
    """Yields numbers of arcs; a negative one is its complement, backwards."""
    for item in nested:
        if isinstance(item, int):
            yield item if item >= 0 else ~item
        else:
            yield from _arcs(item)
