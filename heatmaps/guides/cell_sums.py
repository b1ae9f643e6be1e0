"""Sums a raster's pixels over the cells of a guide; a pixel that a cell's edge cuts is shared by area."""

import math
from typing import Any, Final

import numpy as np

from heatmaps.guides.ground import DEGREES, Ground, pixels_of
from heatmaps.guides.pixels import AT_ONCE, Floats, box_of, parts_of, values_of
from mechanisms.check import ParameterError
from mechanisms.guide import SIDE
from mechanisms.space.grid import Region

FEWEST_PIXELS: Final = 4  # along a side of the region, in other coordinates than degrees
POINTS: Final = 32 * SIDE  # along a side of the region, at least, by which pixels are shared
_MARGIN: Final = 0.02  # of the region's sides, for edges that a projection bends outwards


def of_raster(raster: Any, region: Region) -> Floats:
    """Returns (64, 64) sums, row 0 north. Errors: `ParameterError` naming `guide`."""
    sum_cells = _in_degrees if raster.crs == DEGREES else _projected
    sums = sum_cells(raster, region)
    if sums is None:
        raise ParameterError("guide", "a raster of another place", "one that overlaps the region")
    if not sums.any():
        raise ParameterError("guide", "only zeros in the region", "a value above 0 in the region")
    return sums


def _in_degrees(raster: Any, region: Region) -> Floats | None:
    """Sums a raster in degrees exactly, also where longitudes go from 0 to 360."""
    place, total, overlaps = raster.transform, np.zeros((SIDE, SIDE)), False
    steps = np.arange(SIDE + 1) / SIDE
    rows = (region.north + steps * (region.south - region.north) - place.f) / place.e
    for turn in (-360, 0, 360):
        columns = (region.west + turn + steps * (region.east - region.west) - place.c) / place.a
        box = box_of(raster, columns, rows)
        if box.is_empty:
            continue
        overlaps = True
        for part in parts_of(raster, box, AT_ONCE):
            across = _between(values_of(raster, part), columns - part.left)
            total += _between(across.T, rows - part.top).T
    return total if overlaps else None


def _between(values: Floats, edges: Floats) -> Floats:
    """Sums each row between neighbouring edges, which are in pixels: (n, 65 edges) → (n, 64)."""
    width = values.shape[1]
    running_sums = np.zeros((len(values), width + 1))
    np.cumsum(values, axis=1, out=running_sums[:, 1:])
    edges = np.clip(edges, 0, width)
    whole = np.minimum(edges.astype(np.int64), width - 1)
    until = running_sums[:, whole] + values[:, whole] * (edges - whole)
    sums: Floats = np.abs(np.diff(until, axis=1))  # edges go down where a raster is south up
    return sums


def _projected(raster: Any, region: Region) -> Floats | None:
    """Sums a raster in a projection by points inside each pixel, at least `POINTS` along a side of the
    region."""
    columns, rows = pixels_of(raster, region)
    if not columns.size:
        return None
    wide, high = np.ptp(columns), np.ptp(rows)
    if min(wide, high) < FEWEST_PIXELS:
        allowed = f"at least {FEWEST_PIXELS} pixels along each side of the region"
        raise ParameterError("guide", "a raster with large pixels", allowed)
    box = box_of(raster, _widened(columns), _widened(rows))
    if box.is_empty:
        return None
    across, down = max(1, math.ceil(POINTS / wide)), max(1, math.ceil(POINTS / high))
    ground, total = Ground(raster, box, region), np.zeros(SIDE**2)
    for part in parts_of(raster, box, max(1, AT_ONCE // (across * down))):
        values = values_of(raster, part) / (across * down)
        cells = ground.cells(part, across=across, down=down)
        inside = cells >= 0
        each = values.repeat(down, axis=0).repeat(across, axis=1)
        total += np.bincount(cells[inside], weights=each[inside], minlength=SIDE**2)
    return total.reshape(SIDE, SIDE)


def _widened(places: Floats) -> Floats:
    """Returns the first and the last, and a margin."""
    margin = np.ptp(places) * _MARGIN
    return np.array([places.min() - margin, places.max() + margin])
