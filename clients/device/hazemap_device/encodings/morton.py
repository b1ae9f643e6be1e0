"""Encodes quadtree cells: the bits of column and row by turns, the row's above the column's."""

from hazemap_device.places import FINEST_LEVEL, Cell


def code(finest: Cell, level: int) -> int:
    """Finds the code of the cell of a level that holds a finest cell."""
    x, y = (coordinate >> (FINEST_LEVEL - level) for coordinate in finest)
    return sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1) for bit in range(level))
