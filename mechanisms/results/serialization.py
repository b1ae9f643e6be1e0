"""Serializes released results of any kind to bytes."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from mechanisms.results.areas import MAGIC as AREAS_MAGIC
from mechanisms.results.areas import Areas
from mechanisms.results.distances import MAGIC as DISTANCES_MAGIC
from mechanisms.results.distances import PlaceDistances
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import MAGIC as POINT_MAGIC
from mechanisms.results.point import Point
from mechanisms.results.zones import MAGIC as ZONES_MAGIC
from mechanisms.results.zones import ZoneShares

Result: TypeAlias = Heatmap | Point | ZoneShares | PlaceDistances

_MAGIC_BYTES: Final = 4
_BY_MAGIC: Final[Mapping[bytes, type[Result]]] = {
    AREAS_MAGIC: Areas,
    DISTANCES_MAGIC: PlaceDistances,
    POINT_MAGIC: Point,
    ZONES_MAGIC: ZoneShares,
}


def result_from_bytes(data: bytes) -> Result:
    """Returns the result whose `to_bytes` it is. Errors: ValueError for anything else."""
    return _BY_MAGIC.get(data[:_MAGIC_BYTES], Heatmap).from_bytes(data)
