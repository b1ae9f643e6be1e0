"""Lists the regions that hold most of a map's mass, in words and numbers."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from heatmaps.maps.grid import is_uncertain, row_areas_km2
from heatmaps.numbers import DOWN, UP, degrees, length, number, share
from heatmaps.places.area_centres import centres_of
from heatmaps.places.whereabouts import nearest
from mechanisms.results.areas import Areas, owners
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region, morton_decode

TABLE_ROWS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    rank: int
    where: str  # in words, from public place names
    lat: str  # of the middle, degrees
    lon: str
    size: str
    share: str  # percent of the total
    persons: str
    interval: str  # 95 %, in persons; empty: not stated
    uncertain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTable:
    """Tabulates a map's greatest regions or centres, for beside it."""

    rows: tuple[TableRow, ...]
    centres: int  # of a map of areas
    regions: int  # released, of which `rows` are the greatest


def map_table(heatmap: Heatmap, region: Region) -> MapTable:
    """Returns its `TABLE_ROWS` greatest regions, or centres."""
    return MapTable(
        rows=top_regions(heatmap, region, most=TABLE_ROWS),
        centres=len(centres_of(heatmap, region)),
        regions=heatmap.values.size,
    )


def top_regions(heatmap: Heatmap, region: Region, *, most: int) -> tuple[TableRow, ...]:
    """Lists the `most` regions with the greatest released values, the greatest first; those with 0 are left
    out.

    Of a map of areas its centres.
    """
    if isinstance(heatmap, Areas):
        return _areas(heatmap, region, most)
    order = np.argsort(-heatmap.values, kind="stable")[:most]
    indexes = order[heatmap.values[order] > 0].tolist()
    total = float(heatmap.values.sum())
    uncertain, lows, highs = (array.tolist() for array in (is_uncertain(heatmap), *heatmap.intervals()))
    return tuple(
        _row(
            heatmap,
            region,
            index,
            rank=rank,
            total=total,
            interval=(lows[index], highs[index]),
            uncertain=uncertain[index],
        )
        for rank, index in enumerate(indexes, start=1)
    )


def _areas(areas: Areas, region: Region, most: int) -> tuple[TableRow, ...]:
    """Returns a row a centre; the size is that of its whole area."""
    cell_km2 = row_areas_km2(region, areas.level)[::-1]  # from the south, as Morton rows are
    owner = owners(areas.level, areas.centres)
    rows = morton_decode(np.arange(owner.size), areas.level)[1]
    sizes = np.bincount(owner, cell_km2[rows], minlength=areas.centres.size)
    return tuple(
        TableRow(
            rank=rank,
            where=nearest(centre.lat, centre.lon),
            lat=degrees(centre.lat, places=4),
            lon=degrees(centre.lon, places=4),
            size=f"{number(size)} km²",
            share=share(centre.share),
            persons=number(centre.persons),
            interval="",
            uncertain=False,
        )
        for rank, (centre, size) in enumerate(
            zip(centres_of(areas, region)[:most], sizes[:most], strict=True), start=1
        )
    )


def _row(
    heatmap: Heatmap,
    region: Region,
    index: int,
    *,
    rank: int,
    total: float,
    interval: tuple[float, float],
    uncertain: bool,
) -> TableRow:
    low, high = interval
    level, value = int(heatmap.levels[index]), float(heatmap.values[index])
    west, south, east, north = region.cell_bounds(level, heatmap.prefixes[index : index + 1])
    lat, lon = float(south[0] + north[0]) / 2, float(west[0] + east[0]) / 2
    return TableRow(
        rank=rank,
        where=nearest(lat, lon),
        lat=degrees(lat, places=4),
        lon=degrees(lon, places=4),
        size=f"{length(region.width_m / 2**level)} × {length(region.height_m / 2**level)}",
        share=share(value / total),
        persons=number(value),
        interval=f"{number(low, rounding=DOWN)} – {number(high, rounding=UP)}" if math.isfinite(high) else "",
        uncertain=uncertain,
    )
