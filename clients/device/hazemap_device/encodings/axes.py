"""Reports a cell whose column and row were each moved by noise: `geo-local`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.lattice import CELL_BYTES, AxisNoise, Lattice
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource
from hazemap_device.strict_json import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes(Encoding):
    """One law a column, one a row; the table has the columns' running sums, then the rows'."""

    kind: ClassVar[str] = "axes"
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    lattice: Lattice
    across: AxisNoise
    along: AxisNoise

    @classmethod
    def read(cls, values: object) -> Self:
        return cls.of(Fields(values, "kind columns rows across along", of="encoding"))

    @classmethod
    def of(cls, fields: Fields) -> Self:
        """Reads the fields that `items` has, too."""
        lattice = Lattice.read(fields)
        across = AxisNoise.read(fields.raw("across"), lattice.columns, of="encoding: across")
        along = AxisNoise.read(fields.raw("along"), lattice.rows, of="encoding: along")
        return cls(lattice=lattice, across=across, along=along)

    @property
    def table_bytes(self) -> int:
        return 8 * (self.lattice.columns + self.lattice.rows)

    def _drawn(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        return [self.moved(cells[0], table, words)]

    def moved(self, finest: Cell, table: bytes, words: WordSource) -> bytes:
        """Draws the message of one place."""
        lattice = self.lattice
        columns = RunningSums(table=table, count=lattice.columns)
        rows = RunningSums(table=table, count=lattice.rows, start=8 * lattice.columns)
        column, row = lattice.cell(finest)
        column = self.across.moved(column, columns, words)
        return lattice.message(column, self.along.moved(row, rows, words))
