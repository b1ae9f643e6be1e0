"""Reports numbers of squares as bits, with noise from everybody: `geo-shuffle` and `sgdl-shuffle`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings import plane
from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource
from hazemap_device.strict_json import Fields, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Encoding):
    """Sends on each axis value + noise + padding ones, then zeros, `places` bits in all."""

    kind: ClassVar[str] = "unary"
    message_bytes: ClassVar[int] = 1
    plane: plane.Plane
    padding: int
    places: int
    number_bytes: int

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, f"kind domain padding places number_bytes {plane.KEYS}", of="encoding")
        squares = plane.Plane.read(fields)
        domain = fields.whole("domain", 1, plane.LARGEST_DOMAIN)
        padding = fields.whole("padding", 1, 10**6)
        places = fields.whole("places", 1)
        # Any other number of places would cut values, or send the same bits of everybody.
        if domain < max(squares.domains) or places != domain + 2 * padding:
            refuse("encoding: places")
        number_bytes = fields.whole("number_bytes", 1, 1024)
        return cls(plane=squares, padding=padding, places=places, number_bytes=number_bytes)

    @property
    def messages(self) -> int:
        return 2 * self.places

    @property
    def table_bytes(self) -> int:
        return 2 * self.padding * self.number_bytes

    def check_table(self, table: bytes) -> None:
        RunningSums(table=table, count=2 * self.padding, width=self.number_bytes).check_law()

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        sums = RunningSums(table=table, count=2 * self.padding, width=self.number_bytes)
        messages = []
        for axis, value in enumerate(self.plane.values(cells[0])):
            ones = value + sums.entry(words)  # noise is the entry minus the padding, which is added again
            messages += [plane.bit_message(axis, int(place < ones)) for place in range(self.places)]
        return messages
