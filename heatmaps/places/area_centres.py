"""Finds the centres of a map of areas and what their areas hold."""

from dataclasses import dataclass

from mechanisms.results.areas import Areas
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Centre:
    """Holds a centre's middle in degrees, and the released persons in its area, with their share of all."""

    lat: float
    lon: float
    persons: float
    share: float


def centres_of(heatmap: Heatmap, region: Region) -> tuple[Centre, ...]:
    """Returns the centres of a map of areas, the heaviest first; none of another map."""
    if not isinstance(heatmap, Areas):
        return ()
    west, south, east, north = region.cell_bounds(heatmap.level, heatmap.centres)
    total = float(heatmap.masses.sum())
    places = zip(((south + north) / 2).tolist(), ((west + east) / 2).tolist(), strict=True)
    return tuple(
        Centre(lat=lat, lon=lon, persons=mass, share=mass / total if total > 0 else 0.0)
        for (lat, lon), mass in zip(places, heatmap.masses.tolist(), strict=True)
    )
