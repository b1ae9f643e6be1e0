"""Lays out the lattice of cells that a round reports, and the noise that moves them."""

from dataclasses import dataclass
from typing import Final, Self

from hazemap_device.encodings.running_sums import RunningSums, refused_table
from hazemap_device.places import FINEST_LEVEL, Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields

MOST_A_SIDE: Final = 1 << 16
CELL_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Divides a region into `columns` × `rows` equal cells."""

    columns: int
    rows: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(columns=fields.whole("columns", 1, MOST_A_SIDE), rows=fields.whole("rows", 1, MOST_A_SIDE))

    @property
    def size(self) -> int:
        return self.columns * self.rows

    def cell(self, finest: Cell) -> Cell:
        x, y = finest
        return x * self.columns >> FINEST_LEVEL, y * self.rows >> FINEST_LEVEL

    def message(self, column: int, row: int) -> bytes:
        return (column * self.rows + row).to_bytes(CELL_BYTES, "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisNoise:
    """Holds a law of offsets along one axis of `side` cells: any cell has `uniform` of `total` weights."""

    side: int
    uniform: int
    total: int

    @classmethod
    def read(cls, values: object, side: int, *, of: str) -> Self:
        fields = Fields(values, "uniform total", of=of)
        return cls(
            side=side, uniform=fields.large("uniform", 1, 2**64), total=fields.large("total", 1, 2**64)
        )

    def check_table(self, sums: RunningSums) -> None:
        """Raises `DeviceError` where the weights are not those of the sums and of all cells alike."""
        if sums.last + self.uniform * self.side != self.total:
            raise refused_table()

    def moved(self, index: int, sums: RunningSums, words: WordSource) -> int:
        """Draws what is reported of an axis instead of `index`."""
        number = uniform_below(words, self.total)
        if number >= sums.last:
            return min((number - sums.last) // self.uniform, self.side - 1)
        return stopped(index, sums.at_most(number), self.side, words)


def stopped(index: int, offset: int, side: int, words: WordSource) -> int:
    """Moves by an offset to a side that one random bit chooses, and stops at the borders."""
    sign = -1 if uniform_below(words, 2) else 1
    return min(max(index + sign * offset, 0), side - 1)
