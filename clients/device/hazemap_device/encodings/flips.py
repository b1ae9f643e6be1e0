"""Reports numbers of squares as bits that are each flipped with one probability: `rr-shuffle`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from hazemap_device.encodings import plane
from hazemap_device.encodings.encoding import Encoding
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips(Encoding):
    """Sends `domains[axis]` bits an axis, flipped `flips[axis]` times in 2^32."""

    kind: ClassVar[str] = "flips"
    message_bytes: ClassVar[int] = 1
    table_bytes: ClassVar[int] = 0
    plane: plane.Plane
    flips: tuple[int, ...]

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, f"kind flips {plane.KEYS}", of="encoding")
        # A bit that is flipped in half of all cases says nothing; never flipped, it says all.
        return cls(plane=plane.Plane.read(fields), flips=fields.wholes("flips", 2, 1, (1 << 31) - 1))

    @property
    def messages(self) -> int:
        return sum(self.plane.domains)

    def _draw(self, cells: Sequence[Cell], _table: bytes, words: WordSource) -> list[bytes]:
        messages = []
        for axis, value in enumerate(self.plane.values(cells[0])):
            for place in range(self.plane.domains[axis]):
                flipped = uniform_below(words, 1 << 32) < self.flips[axis]
                messages.append(plane.bit_message(axis, int((place < value) != flipped)))
        return messages
