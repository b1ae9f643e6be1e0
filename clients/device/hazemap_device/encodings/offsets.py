"""Reports a cell moved by noise that has one table for both axes: `planar-geometric`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from hazemap_device.encodings import events
from hazemap_device.encodings.encoding import Encoding, Ground, Losses
from hazemap_device.encodings.lattice import CELL_BYTES, Lattice, stopped
from hazemap_device.encodings.running_sums import RunningSums, refused_table
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields, refuse

MOST_CELLS: Final = 1 << 13  # of which all moves are compared before a report


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets(Encoding):
    """Sends the true cell plus an offset, or once in a while any cell."""

    kind: ClassVar[str] = "offsets"
    is_local: ClassVar[bool] = True
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    lattice: Lattice
    uniform: int
    total: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind columns rows uniform total", of="encoding")
        lattice = Lattice.read(fields)
        if lattice.size > MOST_CELLS:
            refuse("encoding: columns")
        return cls(
            lattice=lattice,
            uniform=fields.large("uniform", 1, 2**64),
            total=fields.large("total", 1, 2**64),
        )

    @property
    def table_bytes(self) -> int:
        return 8 * self.lattice.size

    def check_table(self, table: bytes) -> None:
        last = RunningSums(table=table, count=self.lattice.size).last
        if last + self.uniform * self.lattice.size != self.total:
            raise refused_table()

    def losses(self, table: bytes, ground: Ground) -> Losses:
        lattice = self.lattice
        weights = RunningSums(table=table, count=lattice.size).weights()
        # Four times what one pair of signs has, so that all are whole.
        quadrant = [
            [(2 - (column > 0)) * (2 - (row > 0)) * weights[column * lattice.rows + row]
             for row in range(lattice.rows)]
            for column in range(lattice.columns)
        ]  # fmt: skip
        return events.losses(quadrant, 4 * self.uniform, ground)

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        lattice = self.lattice
        sums = RunningSums(table=table, count=lattice.size)
        number = uniform_below(words, self.total)
        if number >= sums.last:
            anywhere = min((number - sums.last) // self.uniform, lattice.size - 1)
            return [lattice.message(*divmod(anywhere, lattice.rows))]
        column, row = lattice.cell(cells[0])
        across, along = divmod(sums.at_most(number), lattice.rows)
        # In this order: the column's sign is drawn first.
        column = stopped(column, across, lattice.columns, words)
        row = stopped(row, along, lattice.rows, words)
        return [lattice.message(column, row)]
