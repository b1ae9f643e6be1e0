"""Makes a file of street tiles (PMTiles) from an OpenStreetMap extract."""

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import shapely
from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer

from heatmaps.maps.ground import ground_of
from heatmaps.maps.streets import OPENSTREETMAP, extract
from heatmaps.maps.streets.extract import OsmFeatures, Outline
from heatmaps.maps.streets.layers import COAST, FINEST_ZOOM, LAYERS, Sorted
from heatmaps.maps.streets.tiles import Pyramid
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

_READABLE: Final = 0o644  # a map of streets is public, and a server in a container has another account
_DEGREE: Final = 10_000_000  # of a header


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetFile:
    """Counts what there is in the file."""

    things: int
    tiles: int
    size_bytes: int


def make(
    source: Path, region: Region, output: Path, *, read: Callable[[int], object], cut: Callable[[int], object]
) -> StreetFile:
    """Writes the tiles of what lies in the region; a file that is there is replaced whole.

    `read` takes how many things were read, `cut` how many tiles were made, now and then. Errors:
    `ParameterError` naming `file` or `bbox`, OSError.
    """
    if not source.is_file():
        raise ParameterError("file", source, "an OpenStreetMap extract that is there")
    try:
        things = extract.read(source, region, progress=read)
    except RuntimeError as error:
        raise ParameterError("file", source, f"an OpenStreetMap extract, .osm.pbf ({error})") from None
    if not things.layers:
        raise ParameterError("bbox", ",".join(map(str, region)), "a box in which the file has streets")
    count = len(things.layers)
    _add_coast(things, region)
    with _whole(output) as stream:
        tiles = _write(stream, things, region, cut)
    return StreetFile(things=count, tiles=tiles, size_bytes=output.stat().st_size)


def _add_coast(things: OsmFeatures, region: Region) -> None:
    """Adds land and sea, by the file's own coast or else as the ground of the maps has them."""
    ground: Any = ground_of(region)
    sea = extract.sea_by_coast(region, things.pop_layer(COAST))
    if sea is None and "sea" in ground:
        sea = extract.sea_by_rings(region, _rings(ground))
    if sea is None:
        return
    earth = extract.areas(shapely.difference(shapely.box(*region), sea))
    things.add(Sorted(layer="earth", first_zoom=0, properties={"kind": "earth"}), earth)
    if not sea.is_empty:
        things.add(Sorted(layer="water", first_zoom=0, properties={"kind": "ocean"}), sea)


def _rings(ground: Any) -> Iterator[Outline]:
    for steps in ground["sea"]:
        lattice = np.cumsum(np.array(steps).reshape(-1, 2), axis=0)
        if len(lattice) > 3:
            yield lattice * ground["unit"] + ground["origin"]


def _write(stream: BinaryIO, things: OsmFeatures, region: Region, cut: Callable[[int], object]) -> int:
    writer, number = Writer(stream), 0
    for number, (tile, content) in enumerate(Pyramid(things).tiles(), start=1):
        writer.write_tile(zxy_to_tileid(*tile), gzip.compress(content, mtime=0))
        cut(number)
    west, south, east, north = (round(degrees * _DEGREE) for degrees in region)
    header = {
        "version": 3,
        "tile_type": TileType.MVT,
        "tile_compression": Compression.GZIP,
        "min_lon_e7": west,
        "min_lat_e7": south,
        "max_lon_e7": east,
        "max_lat_e7": north,
        "center_zoom": FINEST_ZOOM,
        "center_lon_e7": (west + east) // 2,
        "center_lat_e7": (south + north) // 2,
    }
    layers = [{"id": name, "fields": dict[str, str]()} for name in LAYERS]
    writer.finalize(header, {"attribution": OPENSTREETMAP, "name": "Streets", "vector_layers": layers})
    return number


@contextmanager
def _whole(output: Path) -> Iterator[BinaryIO]:
    """Opens a file that gets its name when it is complete; until then it has another one, beside it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{output.name}-", dir=output.parent)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        path.chmod(_READABLE)
        path.replace(output)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
