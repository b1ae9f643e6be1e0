"""Measures what a cell that is moved by noise tells, on the integers of the noise.

On an axis a report is inside the lattice, and comes from one offset; or it is at a border, and comes from
all offsets that lead there or farther: a sum over the law's end. With the uniform part these are the weights
of all reports there are, by how far the true cell is from the reported one or from the border. Weights
depend on no sign: so of two true cells on both sides of a report, the one mirrored to the other's side has
the same weight and is nearer, and only distances of one side have to be compared.
"""

import math
from collections.abc import Iterator
from itertools import accumulate
from operator import sub

from hazemap_device.encodings.encoding import Ground, Losses


def losses(quadrant: list[list[int]], uniform: int, ground: Ground) -> Losses:
    """Computes the losses of noise on both axes.

    quadrant: weights by offsets of columns, then of rows, for one pair of signs.
    """
    across_m, along_m = ground.width_m / len(quadrant), ground.height_m / len(quadrant[0])
    near = anywhere = 0.0
    for weights in _both(quadrant):
        logs = [[math.log(weight + uniform) for weight in column] for column in weights]
        anywhere = max(anywhere, max(map(max, logs)) - min(map(min, logs)))
        near = max(near, _near(logs, across_m, along_m, ground.radius_m))
    return Losses(near=near, anywhere=anywhere)


def losses_by_move(law: list[int], uniform: int) -> list[float]:
    """Computes, for noise on one axis, by number of cells the largest loss of a move that is no longer."""
    losses = [0.0] * len(law)
    for weights in _weights(law):
        logs = [math.log(weight + uniform) for weight in weights]
        highest = logs
        for move in range(1, len(logs)):
            highest = _wider(highest)
            losses[move] = max(losses[move], *map(sub, highest, logs))
    return list(accumulate(losses, max))


def reach(across_m: float, along_m: float, radius_m: float, rows: int) -> int:
    """Finds how many rows a move of at most a radius may go, beside so many metres on the other axis."""
    metres = math.sqrt(max(0.0, radius_m**2 - across_m**2))
    return min(rows - 1, math.floor(metres / along_m))


def _near(logs: list[list[float]], across_m: float, along_m: float, radius_m: float) -> float:
    """Finds the largest change over moves within a radius: by columns, all rows in reach at once."""
    farthest = min(len(logs) - 1, math.floor(radius_m / across_m))
    highest, rows, largest = logs, 0, 0.0
    for columns in range(farthest, -1, -1):  # so that the reach along rows only grows
        while rows < reach(columns * across_m, along_m, radius_m, len(logs[0])):
            highest, rows = [_wider(column) for column in highest], rows + 1
        for place in range(len(logs) - columns):
            here, there = place, place + columns
            largest = max(largest, *map(sub, highest[there], logs[here]))
            largest = max(largest, *map(sub, highest[here], logs[there]))
    return largest


def _wider(highest: list[float]) -> list[float]:
    """Widens the largest of so many neighbours to that of one more on either side."""
    return list(map(max, highest, [*highest[1:], highest[-1]], [highest[0], *highest[:-1]]))


def _both(quadrant: list[list[int]]) -> Iterator[list[list[int]]]:
    """Yields the weights by kinds of report on columns and rows; all kinds that there are."""
    columns = list(zip(*quadrant, strict=True))  # by row
    for kind in zip(*(_weights(list(column)) for column in columns), strict=True):
        yield from (list(both) for both in _rows_of(list(zip(*kind, strict=True))))


def _rows_of(weights: list[tuple[int, ...]]) -> Iterator[list[list[int]]]:
    for kind in zip(*(_weights(list(column)) for column in weights), strict=True):
        yield [list(column) for column in kind]


def _weights(law: list[int]) -> list[list[int]]:
    """Returns weights of one axis, at its border and inside; a lattice of two cells or one has no inside."""
    border = list(accumulate(reversed(law)))[::-1]
    return [border, law[:-1]] if len(law) > 2 else [border]
