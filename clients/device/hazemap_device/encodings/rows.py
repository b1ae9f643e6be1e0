"""Reports a cell drawn from the true cell's own row of a table: `optimal`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.lattice import CELL_BYTES, Lattice
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Encoding):
    """A row of running sums for each true cell, all with the same total."""

    kind: ClassVar[str] = "rows"
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    lattice: Lattice
    total: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind columns rows total", of="encoding")
        return cls(lattice=Lattice.read(fields), total=fields.large("total", 1, 2**64))

    @property
    def table_bytes(self) -> int:
        return 8 * self.lattice.size**2

    def _drawn(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        lattice = self.lattice
        column, row = lattice.cell(cells[0])
        true = column * lattice.rows + row
        sums = RunningSums(table=table, count=lattice.size, start=8 * lattice.size * true)
        reported = min(sums.at_most(uniform_below(words, self.total)), lattice.size - 1)
        return [lattice.message(*divmod(reported, lattice.rows))]
