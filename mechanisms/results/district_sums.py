"""Adds up a released map over districts, with the error of each sum.

The same rule as in `static/hazemap/areas.js`, which adds up where a map is read; tests hold them equal. It
reads what was released and nothing else, so it costs nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.squares import Squares
from mechanisms.space.grid import Region

LINES: Final = 1024  # parallels on which an area is measured, in the region's height or the area's
LEAST_LINES: Final = 16  # of them in one square
_AT_ONCE: Final = 1 << 20  # squares of a grid, or edges on parallels

Floats = NDArray[np.float64]
Ring: TypeAlias = Sequence[Sequence[float]]  # corners: longitude, latitude in degrees
Polygon: TypeAlias = Sequence[Ring]  # the first one outside, the others holes


@dataclass(frozen=True, slots=True, kw_only=True)
class DistrictSum:
    """Holds a district's persons, their error, and how much map and district cover of each other."""

    value: float  # persons
    error: float  # persons, standard error
    share: float  # of all persons of the map
    covered: float  # part of the district that the map covers, 0 to 1
    filled: float  # part of the map that the district fills, 0 to 1


def district_sum(squares: Sequence[Squares], region: Region, polygons: Sequence[Polygon]) -> DistrictSum:
    """Returns persons in polygons, by the even-odd rule over all their rings.

    A square that a border cuts counts by the part of it that lies inside; where in it its persons are is not
    known, and adds to the error as if all of them were in one place, anywhere in the square.
    """
    edges = _edges(region, polygons)
    value = variance = everybody = 0.0
    for part in squares:
        everybody += float(part.values.sum())
        inside, persons, deviations = _covered(edges, part)
        value += float((inside * persons).sum())
        there = np.maximum(persons, 0)  # noise may be below 0, people are not
        placing = inside * (1 - inside) * (there**2 + there)
        variance += float(((inside * deviations) ** 2 + placing).sum())
    value = max(value, 0.0)
    return DistrictSum(
        value=value,
        error=variance**0.5,
        share=min(value / everybody, 1.0) if everybody > 0 else 0.0,  # noise below 0 makes all fewer
        covered=_part_inside(edges),
        filled=min(sum(float(part[0, 0]) for _, part in _coverage(edges, 1)), 1.0),
    )


def _edges(region: Region, polygons: Sequence[Polygon]) -> Floats:
    """Returns `(k, 4)` x and y of both ends of all edges but parallels, as shares of the region's width from
    the west and height from the north; the longitude is taken the way round that is nearest to the region."""
    rings = [np.array([corner[:2] for corner in ring], np.float64) for rings in polygons for ring in rings]
    middle = np.concatenate(rings)[:, 0].mean()
    turn = 360 * np.floor(((region.west + region.east) / 2 - middle) / 360 + 0.5)
    edges = []
    for ring in rings:
        x = (ring[:, 0] + turn - region.west) / (region.east - region.west)
        y = (region.north - ring[:, 1]) / (region.north - region.south)
        edges.append(np.stack((np.roll(x, 1), np.roll(y, 1), x, y), axis=1))
    sides = np.concatenate(edges)
    return np.asarray(sides[sides[:, 1] != sides[:, 3]], np.float64)


def _covered(edges: Floats, part: Squares) -> tuple[Floats, Floats, Floats]:
    """Returns the part inside, the persons and the deviations of the squares
    of a level of which any is inside.
    """
    count = 1 << part.level
    order = np.argsort(part.y, kind="stable")
    rows = part.y[order]
    columns = [np.empty((3, 0))]
    for first, grid in _coverage(edges, count):
        low, high = np.searchsorted(rows, (first, first + len(grid)))
        places = order[low:high]
        inside = np.clip(grid[part.y[places] - first, part.x[places]], 0, 1)
        some = inside > 0
        columns.append(np.stack((inside, part.values[places], part.deviations[places]))[:, some])
    inside, persons, deviations = np.concatenate(columns, axis=1)
    return inside, persons, deviations


def _coverage(edges: Floats, count: int) -> Iterator[tuple[int, Floats]]:
    """Yields some rows of a grid at a time: the number of the first,
    and the part of every square that is inside.
    """
    lines = max(LINES // count, LEAST_LINES)
    if not len(edges):
        return
    heights = edges[:, 1::2]
    first, end = np.clip((np.floor(heights.min() * count), np.ceil(heights.max() * count)), 0, count)
    step = max(_AT_ONCE // max(count, lines * len(edges)), 1)
    for row in range(int(first), int(end), step):
        n_rows = min(step, int(end) - row)
        at = np.repeat(np.arange(row, row + n_rows), lines)
        parallels = (at + (np.tile(np.arange(lines), n_rows) + 0.5) / lines) / count
        line, x = _crossings(edges, parallels)
        yield row, _filled(line // lines, x * count, (n_rows, count)) / lines


def _crossings(edges: Floats, parallels: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Returns the crossings of edges and parallels: the number of the parallel and x, in this order.

    Inside is from each first to each second one.
    """
    x1, y1, x2, y2 = edges.T[:, :, np.newaxis]
    edge, line = np.nonzero((y1 > parallels) != (y2 > parallels))
    x1, y1, x2, y2 = edges[edge].T
    x = x1 + ((parallels[line] - y1) / (y2 - y1)) * (x2 - x1)
    order = np.lexsort((x, line))
    return line[order], x[order]


def _filled(row: NDArray[np.int64], x: Floats, shape: tuple[int, int]) -> Floats:
    """Returns lengths inside each square of a grid,
    of spans from each first to each second x of a row of squares.
    """
    n_rows, count = shape
    x = np.clip(x, 0, count)
    square = np.minimum(np.floor(x), count - 1)
    sign = np.where(np.arange(x.size) % 2, 1.0, -1.0)
    cell = row * count + square.astype(np.int64)
    # What lies to the west of an end is inside, of a beginning outside.
    ends = np.bincount(cell, sign, minlength=n_rows * count).reshape(shape)
    parts = np.bincount(cell, sign * (x - square), minlength=n_rows * count).reshape(shape)
    return np.asarray(np.cumsum(ends[:, ::-1], axis=1)[:, ::-1] - ends + parts, np.float64)


def _part_inside(edges: Floats) -> float:
    """Returns the part of an area that lies in the region, 0 to 1; 0 of a line along a parallel."""
    if not len(edges):
        return 0.0
    top, bottom = edges[:, 1::2].min(), edges[:, 1::2].max()
    inside = everything = 0.0
    step = max(_AT_ONCE // len(edges), 1)
    for first in range(0, LINES, step):
        at = np.arange(first, min(first + step, LINES))
        parallels = top + ((at + 0.5) / LINES) * (bottom - top)
        line, x = _crossings(edges, parallels)
        begin, end = x[::2], x[1::2]
        everything += float((end - begin).sum())
        in_region = (parallels >= 0) & (parallels <= 1)
        lengths = np.maximum(np.minimum(end, 1) - np.maximum(begin, 0), 0)
        inside += float(lengths[in_region[line[::2]]].sum())
    return inside / everything if everything > 0 else 0.0
