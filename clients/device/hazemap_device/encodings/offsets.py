"""Reports a cell moved by noise that has one table for both axes: `planar-geometric`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.lattice import CELL_BYTES, Lattice, stopped
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets(Encoding):
    """The true cell plus an offset, or once in a while any cell."""

    kind: ClassVar[str] = "offsets"
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    lattice: Lattice
    uniform: int
    total: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind columns rows uniform total", of="encoding")
        return cls(
            lattice=Lattice.read(fields),
            uniform=fields.large("uniform", 1, 2**64),
            total=fields.large("total", 1, 2**64),
        )

    @property
    def table_bytes(self) -> int:
        return 8 * self.lattice.size

    def _drawn(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        lattice = self.lattice
        sums = RunningSums(table=table, count=lattice.size)
        drawn = uniform_below(words, self.total)
        if drawn >= sums.last:
            anywhere = min((drawn - sums.last) // self.uniform, lattice.size - 1)
            return [lattice.message(*divmod(anywhere, lattice.rows))]
        column, row = lattice.cell(cells[0])
        across, along = divmod(sums.at_most(drawn), lattice.rows)
        # In this order: the column's sign is drawn first.
        column = stopped(column, across, lattice.columns, words)
        row = stopped(row, along, lattice.rows, words)
        return [lattice.message(column, row)]
