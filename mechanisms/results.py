"""Released results as bytes, whatever their kind."""

from mechanisms.areas import MAGIC as AREAS_MAGIC
from mechanisms.areas import Areas
from mechanisms.interface import Heatmap, Result
from mechanisms.places import MAGIC as DISTANCES_MAGIC
from mechanisms.places import PlaceDistances
from mechanisms.point import MAGIC as POINT_MAGIC
from mechanisms.point import Point
from mechanisms.zones import MAGIC as ZONES_MAGIC
from mechanisms.zones import ZoneShares


def result_from_bytes(data: bytes) -> Result:
    """The result whose `to_bytes` it is. Errors: ValueError for anything else."""
    if data.startswith(ZONES_MAGIC):
        return ZoneShares.from_bytes(data)
    if data.startswith(DISTANCES_MAGIC):
        return PlaceDistances.from_bytes(data)
    if data.startswith(POINT_MAGIC):
        return Point.from_bytes(data)
    return Areas.from_bytes(data) if data.startswith(AREAS_MAGIC) else Heatmap.from_bytes(data)
