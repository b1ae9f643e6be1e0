"""Reports a cell as itself, as one of its district's or as any: `frequency`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings import morton
from hazemap_device.encodings.encoding import Encoding, Ground, Losses
from hazemap_device.encodings.lattice import CELL_BYTES
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Gkrr(Encoding):
    """Draws a cell by three weights: `own` for the true cell, `near` within its district, `far` beyond."""

    kind: ClassVar[str] = "gkrr"
    is_local: ClassVar[bool] = True
    message_bytes: ClassVar[int] = CELL_BYTES
    messages: ClassVar[int] = 1
    table_bytes: ClassVar[int] = 0
    level: int
    districts: int
    district_cells: int
    own: int
    near: int
    far: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind level districts district_cells own near far", of="encoding")
        level = fields.whole("level", 0, 15)
        districts = fields.whole("districts", 1, 4**15)
        district_cells = fields.whole("district_cells", 1, 4**15)
        far = fields.large("far", 1, 2**63)
        near = fields.large("near", far, 2**63)
        own = fields.large("own", near, 2**63)
        if districts * district_cells != 4**level:
            refuse("encoding: districts")
        return cls(
            level=level, districts=districts, district_cells=district_cells, own=own, near=near, far=far
        )

    def losses(self, table: bytes, ground: Ground) -> Losses:  # noqa: ARG002 - it has none
        """Compares the own cell's weight with another's: of the own district, or of another."""
        bits = self.district_cells.bit_length() - 1
        side, wide, high = 1 << self.level, 1 << (bits + 1) // 2, 1 << bits // 2  # of a district
        across_m, along_m = ground.width_m / side, ground.height_m / side
        within, beyond = math.log(self.own / self.near), math.log(self.own / self.far)
        # Neighbours' distances, and what a move to one costs.
        moves = [(across_m, within)] * (wide > 1) + [(along_m, within)] * (high > 1)
        moves += [(across_m, beyond)] * (wide < side) + [(along_m, beyond)] * (high < side)
        near = max((loss for metres, loss in moves if metres <= ground.radius_m), default=0.0)
        return Losses(near=near, anywhere=max((loss for _, loss in moves), default=0.0))

    def _draw(self, cells: Sequence[Cell], _table: bytes, words: WordSource) -> list[bytes]:
        true = morton.code(cells[0], self.level)
        return [self._reported(true, words).to_bytes(CELL_BYTES, "big")]

    def _reported(self, true: int, words: WordSource) -> int:
        everywhere = self.districts * self.district_cells * self.far
        district = self.district_cells * (self.near - self.far)
        number = uniform_below(words, everywhere + district + self.own - self.near)
        if number < everywhere:
            return number // self.far
        if number < everywhere + district:
            first = true - true % self.district_cells
            return first + (number - everywhere) // (self.near - self.far)
        return true
