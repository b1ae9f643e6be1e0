"""Reports a cell drawn from the true cell's own row of a table: `optimal`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import sub
from typing import ClassVar, Final, Self

from hazemap_device.encodings.encoding import Encoding, Ground, Losses
from hazemap_device.encodings.lattice import CELL_BYTES, Lattice
from hazemap_device.encodings.running_sums import RunningSums, refused_table
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields, refuse

MOST_CELLS: Final = 256  # of which all pairs are compared before a report
_NEVER: Final = -1e9  # for the logarithm of 0: what one cell alone reports tells it apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Encoding):
    """Draws a cell from a row of running sums for each true cell, all with the same total."""

    kind: ClassVar[str] = "rows"
    is_local: ClassVar[bool] = True
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    lattice: Lattice
    total: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind columns rows total", of="encoding")
        lattice = Lattice.read(fields)
        if lattice.size > MOST_CELLS:
            refuse("encoding: columns")
        return cls(lattice=lattice, total=fields.large("total", 1, 2**64))

    @property
    def table_bytes(self) -> int:
        return 8 * self.lattice.size**2

    def check_table(self, table: bytes) -> None:
        if any(self._row(table, true).last != self.total for true in range(self.lattice.size)):
            raise refused_table()

    def losses(self, table: bytes, ground: Ground) -> Losses:
        """Compares the rows of all pairs of true cells, report by report."""
        lattice, near, anywhere = self.lattice, 0.0, 0.0
        across_m, along_m = ground.width_m / lattice.columns, ground.height_m / lattice.rows
        logs = [
            [math.log(weight) if weight else _NEVER for weight in self._row(table, true).weights()]
            for true in range(lattice.size)
        ]
        for cell, other in combinations(range(lattice.size), 2):
            changes = list(map(sub, logs[cell], logs[other]))
            loss = max(*changes, -min(changes))
            anywhere = max(anywhere, loss)
            columns, rows = map(sub, divmod(cell, lattice.rows), divmod(other, lattice.rows))
            if math.hypot(columns * across_m, rows * along_m) <= ground.radius_m:
                near = max(near, loss)
        return Losses(near=near, anywhere=anywhere)

    def _row(self, table: bytes, true: int) -> RunningSums:
        size = self.lattice.size
        return RunningSums(table=table, count=size, start=8 * size * true)

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        lattice = self.lattice
        column, row = lattice.cell(cells[0])
        true = column * lattice.rows + row
        sums = self._row(table, true)
        reported = min(sums.at_most(uniform_below(words, self.total)), lattice.size - 1)
        return [lattice.message(*divmod(reported, lattice.rows))]
