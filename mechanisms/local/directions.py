"""Finds lattice moves that every other move decomposes into, hardly longer than a straight line."""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from mechanisms.local.lattice import Lattice, root_down, root_up

EVERY: Final = 15  # cells: lattices of up to 16 a side get moves that need no detour at all
_COARSE: Final = 8  # cells, for larger lattices

Move: TypeAlias = tuple[int, int]  # columns, rows; neither below 0


def usual_longest(lattice: Lattice) -> int:
    """Returns cells of the longest move looked at where nothing speaks for fewer."""
    side = max(lattice.columns, lattice.rows) - 1
    return max(1, side if side <= EVERY else _COARSE)


@lru_cache(maxsize=64)
def moves(lattice: Lattice, longest: int) -> tuple[tuple[Move, Fraction], ...]:
    """Returns (move, its length in metres rounded down) by angle, from along a row to along a column.

    All without a common divisor up to `longest` cells, of which a lattice one cell high or wide needs one.
    """
    if min(lattice.columns, lattice.rows) == 1:
        vectors = [(1, 0) if lattice.rows == 1 else (0, 1)]
    else:
        cells = range(longest + 1)
        vectors = [(a, b) for a in cells for b in cells if math.gcd(a, b) == 1]
        vectors.sort(key=lambda move: math.atan2(move[1], move[0]))
    return tuple((move, root_down(_squared_m(lattice, move))) for move in vectors)


@lru_cache(maxsize=64)
def detour(lattice: Lattice, longest: int) -> Fraction:
    """Returns a bound on (length of a way in `moves`) / (straight length) for every move of the lattice.

    Neighbouring moves u, v by angle have determinant 1, so that each lattice vector between them is
    a·u + b·v for whole a, b ≥ 0; the way is longest relative to the straight line along the bisector:
    1 / cos(half the angle). Ways stay in the box that the move spans.
    """
    if longest >= max(lattice.columns, lattice.rows) - 1 or min(lattice.columns, lattice.rows) == 1:
        return Fraction(1)  # every move is a multiple of one without a common divisor
    by_angle = [move for move, _ in moves(lattice, longest)]
    return max(_stretch(lattice, first, second) for first, second in pairwise(by_angle))


def _squared_m(lattice: Lattice, move: Move) -> Fraction:
    return (move[0] * lattice.column_m) ** 2 + (move[1] * lattice.row_m) ** 2


def _stretch(lattice: Lattice, first: Move, second: Move) -> Fraction:
    """Returns 1 / cos(angle / 2) = √(2 / (1 + cos(angle))); the cosine is rounded down."""
    dot = first[0] * second[0] * lattice.column_m**2 + first[1] * second[1] * lattice.row_m**2
    lengths_m = root_up(_squared_m(lattice, first)) * root_up(_squared_m(lattice, second))
    return root_up(2 / (1 + dot / lengths_m))
