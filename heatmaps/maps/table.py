"""The map as a table: the regions that hold most of the mass, in words and numbers."""

from dataclasses import dataclass

import numpy as np

from heatmaps.centres import centres_of
from heatmaps.maps.grid import is_uncertain, row_areas_km2
from heatmaps.maps.legend import percent
from heatmaps.maps.places import nearest
from mechanisms.areas import Areas, owners
from mechanisms.grid import Region, morton_decode
from mechanisms.interface import Heatmap


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    rank: int
    where: str  # in words, from public place names
    lat: str  # of the middle, degrees
    lon: str
    size: str
    share: str  # percent of the total
    persons: str
    standard_error: str  # empty: not stated
    uncertain: bool


def top_regions(heatmap: Heatmap, region: Region, *, most: int) -> tuple[TableRow, ...]:
    """The `most` regions with the greatest released values, the greatest first; those with 0 are left out.

    Of a map of areas its centres.
    """
    if isinstance(heatmap, Areas):
        return _areas(heatmap, region, most)
    order = np.argsort(-heatmap.values, kind="stable")[:most]
    chosen = order[heatmap.values[order] > 0].tolist()
    total = float(heatmap.values.sum())
    uncertain = is_uncertain(heatmap)
    return tuple(
        _row(heatmap, region, index, rank=rank, total=total, uncertain=bool(uncertain[index]))
        for rank, index in enumerate(chosen, start=1)
    )


def _areas(areas: Areas, region: Region, most: int) -> tuple[TableRow, ...]:
    """A row a centre; the size is that of its whole area."""
    cell_km2 = row_areas_km2(region, areas.level)[::-1]  # from the south, as Morton rows are
    owner = owners(areas.level, areas.centres)
    rows = morton_decode(np.arange(owner.size), areas.level)[1]
    sizes = np.bincount(owner, cell_km2[rows], minlength=areas.centres.size)
    return tuple(
        TableRow(
            rank=rank,
            where=nearest(centre.lat, centre.lon),
            lat=f"{centre.lat:.4f}",
            lon=f"{centre.lon:.4f}",
            size=f"{_number(float(size))} km²",
            share=f"{percent(100 * centre.share)} %",
            persons=_number(centre.persons),
            standard_error="",
            uncertain=False,
        )
        for rank, (centre, size) in enumerate(
            zip(centres_of(areas, region)[:most], sizes[:most], strict=True), start=1
        )
    )


def _row(
    heatmap: Heatmap, region: Region, index: int, *, rank: int, total: float, uncertain: bool
) -> TableRow:
    level, value = int(heatmap.levels[index]), float(heatmap.values[index])
    error = float(heatmap.standard_errors[index])
    west, south, east, north = region.cell_bounds(level, heatmap.prefixes[index : index + 1])
    lat, lon = float(south[0] + north[0]) / 2, float(west[0] + east[0]) / 2
    return TableRow(
        rank=rank,
        where=nearest(lat, lon),
        lat=f"{lat:.4f}",
        lon=f"{lon:.4f}",
        size=f"{_length(region.width_m / 2**level)} × {_length(region.height_m / 2**level)}",
        share=f"{percent(100 * value / total)} %",
        persons=_number(value),
        standard_error=_number(error) if np.isfinite(error) else "",
        uncertain=uncertain,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _length(metres: float) -> str:
    if metres < 1000:
        return f"{metres:.0f} m"
    return f"{metres / 1000:.1f} km" if metres < 10_000 else f"{metres / 1000:,.0f} km"
