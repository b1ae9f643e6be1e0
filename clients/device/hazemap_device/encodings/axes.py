"""Reports a cell whose column and row were each moved by noise: `geo-local`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from hazemap_device.encodings import events
from hazemap_device.encodings.encoding import Encoding, Ground, Losses
from hazemap_device.encodings.lattice import CELL_BYTES, AxisNoise, Lattice
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource
from hazemap_device.strict_json import Fields, refuse

MOST_A_SIDE: Final = 1 << 10  # of which all moves are compared before a report


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes(Encoding):
    """Draws a column and a row by one law each; the table has the columns' running sums, then the rows'."""

    kind: ClassVar[str] = "axes"
    is_local: ClassVar[bool] = True
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
        if max(lattice.columns, lattice.rows) > MOST_A_SIDE:
            refuse("encoding: columns")
        across = AxisNoise.read(fields.raw("across"), lattice.columns, of="encoding: across")
        along = AxisNoise.read(fields.raw("along"), lattice.rows, of="encoding: along")
        return cls(lattice=lattice, across=across, along=along)

    @property
    def table_bytes(self) -> int:
        return 8 * (self.lattice.columns + self.lattice.rows)

    def check_table(self, table: bytes) -> None:
        for axis, sums in self.laws(table):
            axis.check_table(sums)

    def losses(self, table: bytes, ground: Ground) -> Losses:
        """Adds the losses of columns and of rows: both are drawn by themselves."""
        lattice = self.lattice
        across, along = (
            # Twice what one sign has, so that all are whole.
            events.losses_by_move([(2 - (place > 0)) * weight for place, weight in enumerate(sums.weights())],
                                  2 * axis.uniform)
            for axis, sums in self.laws(table)
        )  # fmt: skip
        across_m, along_m = ground.width_m / lattice.columns, ground.height_m / lattice.rows
        near = 0.0
        for columns, loss in enumerate(across):
            if columns * across_m > ground.radius_m:
                break
            rows = events.reach(columns * across_m, along_m, ground.radius_m, lattice.rows)
            near = max(near, loss + along[rows])
        return Losses(near=near, anywhere=across[-1] + along[-1])

    def laws(self, table: bytes) -> tuple[tuple[AxisNoise, RunningSums], tuple[AxisNoise, RunningSums]]:
        """Returns the noise of columns and of rows, each with its running sums."""
        lattice = self.lattice
        columns = RunningSums(table=table, count=lattice.columns)
        rows = RunningSums(table=table, count=lattice.rows, start=8 * lattice.columns)
        return (self.across, columns), (self.along, rows)

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        return [self.moved(cells[0], table, words)]

    def moved(self, finest: Cell, table: bytes, words: WordSource) -> bytes:
        """Draws the message of one place."""
        lattice = self.lattice
        (_, columns), (_, rows) = self.laws(table)
        column, row = lattice.cell(finest)
        column = self.across.moved(column, columns, words)
        return lattice.message(column, self.along.moved(row, rows, words))
