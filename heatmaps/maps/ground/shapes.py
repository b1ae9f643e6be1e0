"""Stores outlines of the earth compactly, and finds those in a box.

Coordinates are whole units of 1e-5 degrees (1.1 m), longitude first. An outline is its first point and the
steps from there; a ring ends where it begins. Rings fill by the even-odd rule: a ring inside another is a
hole of it, and a ring cut in two fills as before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

UNITS: Final = 100_000  # in one degree
_MOST_POINTS: Final = 2_000  # of one outline: what a box cuts is read whole
_LONGEST_STEP: Final = 32_000  # units; a longer one is several

Outline = NDArray[np.int32]  # (points, 2)
Box = tuple[int, int, int, int]  # west, south, east, north, in units


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Shapes:
    """Outlines, one after another; n of them with m steps in all."""

    boxes: NDArray[np.int32]  # (n, 4)
    starts: NDArray[np.int32]  # (n, 2), first points
    ends: NDArray[np.int64]  # (n,), the end of each one's steps
    steps: NDArray[np.int16]  # (m, 2)

    @classmethod
    def of(cls, outlines: Iterable[Outline]) -> Self:
        outlines_kept = [_with_short_steps(outline) for outline in outlines]
        points = np.concatenate([*outlines_kept, np.empty((0, 2), np.int32)])
        ends = np.cumsum([len(outline) for outline in outlines_kept], dtype=np.int64)
        first = np.concatenate(([0], ends))[: len(outlines_kept)]
        own = np.ones(len(points), np.bool_)
        own[first] = False  # a step leads to each other point
        return cls(
            boxes=extents(points, first),
            starts=points[first],
            ends=ends - np.arange(1, len(outlines_kept) + 1),
            steps=np.diff(points, axis=0, prepend=0)[own].astype(np.int16),
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        with np.load(path) as file:
            return cls(**{field.name: file[field.name] for field in fields(cls)})

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez(file, **{field.name: getattr(self, field.name) for field in fields(self)})

    def rings_in(self, box: Box, *, least: int) -> Iterator[Outline]:
        """Yields the rings' parts in the box, without those of fewer than `least` units both ways."""
        for index, inside in self._meeting(box, least):
            ring = self._outline(index)
            if inside or len(ring := clipped(ring, box)):
                yield ring

    def lines_in(self, box: Box) -> Iterator[Outline]:
        """Outlines, as lines, whose own boxes meet the box, whole."""
        for index, _ in self._meeting(box, 0):
            yield self._outline(index)

    def _meeting(self, box: Box, least: int) -> Iterator[tuple[int, bool]]:
        """Yields numbers of outlines, and whether the box holds them."""
        west, south, east, north = self.boxes.T
        meets = (west <= box[2]) & (east >= box[0]) & (south <= box[3]) & (north >= box[1])
        meets &= np.maximum(east - west, north - south) >= least
        holds = (west >= box[0]) & (east <= box[2]) & (south >= box[1]) & (north <= box[3])
        numbers = np.flatnonzero(meets)
        yield from zip(numbers.tolist(), holds[numbers].tolist(), strict=True)

    def _outline(self, index: int) -> Outline:
        begin = self.ends[index - 1] if index else 0
        path = np.vstack((self.starts[index], self.steps[begin : self.ends[index]]))
        return np.cumsum(path, axis=0, dtype=np.int32)


def snapped(outline: Outline, unit: int) -> Outline:
    """Returns its points on a coarser lattice, those that fall together once."""
    coarse = (outline + unit // 2) // unit
    moves = np.any(np.diff(coarse, axis=0) != 0, axis=1)
    return np.asarray(coarse[np.r_[True, moves]] * unit, np.int32)


def small_rings(ring: Outline) -> Iterator[Outline]:
    """Yields the ring in pieces of few points, cut in the middle of the longer side."""
    queue = [ring]
    while queue:
        piece = queue.pop()
        low, high = piece.min(0), piece.max(0)
        axis = int(np.argmax(high - low))
        if len(piece) <= _MOST_POINTS or high[axis] - low[axis] < 2:
            yield piece
            continue
        middle = int(low[axis]) + int(high[axis] - low[axis]) // 2
        halves = (half(piece, axis, middle, below=below) for below in (True, False))
        queue += [piece_half for piece_half in halves if len(piece_half) > 3]


def clipped(ring: Outline, box: Box) -> Outline:
    """Cuts a ring to the box; empty where nothing of it lies there."""
    for axis, at, below in ((0, box[0], False), (1, box[1], False), (0, box[2], True), (1, box[3], True)):
        if len(ring):
            ring = half(ring, axis, at, below=below)
    return ring


def half(ring: Outline, axis: int, at: int, *, below: bool) -> Outline:
    """Cuts a ring to one side of a line, by Sutherland and Hodgman's rule; a ring again."""
    inside = ring[:, axis] <= at if below else ring[:, axis] >= at
    if inside.all():
        return ring
    if not inside.any():
        return ring[:0]
    start, end = ring[:-1], ring[1:]
    crosses, arrives = inside[:-1] != inside[1:], inside[1:]
    # Each edge gives its crossing, then its end, each where there is one.
    last = np.cumsum(crosses.astype(np.int64) + arrives)
    corners = np.empty((int(last[-1]), 2), np.int32)
    corners[last[arrives] - 1] = end[arrives]
    part = (at - start[crosses, axis]) / (end[crosses, axis] - start[crosses, axis].astype(np.int64))
    points = start[crosses] + (end[crosses] - start[crosses].astype(np.int64)) * part[:, np.newaxis]
    points[:, axis] = at
    corners[last[crosses] - 1 - arrives[crosses]] = np.round(points)
    return np.vstack((corners, corners[:1]))


def extents(points: NDArray[np.int32], first: NDArray[np.int64]) -> NDArray[np.int32]:
    """Returns `(n, 4)` boxes of outlines that follow each other, by the places of their first points."""
    if not first.size:
        return np.empty((0, 4), np.int32)
    low, high = (least.reduceat(points, first, axis=0) for least in (np.minimum, np.maximum))
    return np.concatenate((low, high), axis=1)


def _with_short_steps(outline: Outline) -> Outline:
    """Returns the outline with further points on long steps: as far on as whole units allow."""
    steps = np.diff(outline, axis=0)
    parts = -(-np.abs(steps).max(axis=1, initial=0) // _LONGEST_STEP)
    if parts.max(initial=0) <= 1:
        return outline
    parts = np.maximum(parts, 1)
    edge = np.repeat(np.arange(len(steps)), parts)
    number = np.arange(1, len(edge) + 1) - np.repeat(np.cumsum(parts) - parts, parts)
    reached = steps[edge] * number[:, np.newaxis].astype(np.int64) // parts[edge, np.newaxis]
    return np.vstack((outline[:1], outline[edge] + reached)).astype(np.int32)
