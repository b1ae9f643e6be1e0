"""Lays the two axes of a region in squares: what a place counts on each."""

from dataclasses import dataclass
from typing import Final, Self

from hazemap_device.places import FINEST_LEVEL, Cell
from hazemap_device.strict_json import Fields

KEYS: Final = "width_um height_um cell_um domains"
LARGEST_DOMAIN: Final = 10**4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """Holds lengths in micrometres; values of an axis go from 0 to its domain."""

    width_um: int
    height_um: int
    cell_um: int
    domains: tuple[int, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            width_um=fields.whole("width_um", 1),
            height_um=fields.whole("height_um", 1),
            cell_um=fields.whole("cell_um", 1),
            domains=fields.wholes("domains", 2, 1, LARGEST_DOMAIN),
        )

    def values(self, finest: Cell) -> tuple[int, int]:
        """Rounds the middle of a finest cell to whole squares from the west and from the south."""
        x, y = finest
        return self._value(x, self.width_um, self.domains[0]), self._value(y, self.height_um, self.domains[1])

    def _value(self, index: int, length_um: int, domain: int) -> int:
        # (2x + 1) · length / (2^32 · cell) + 1/2, in one quotient of integers.
        whole = self.cell_um << (FINEST_LEVEL + 1)
        return min(((2 * index + 1) * length_um * 2 + whole) // (2 * whole), domain)


def bit_message(axis: int, bit: int) -> bytes:
    return bytes((2 * axis + bit,))
