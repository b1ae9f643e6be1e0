"""Reports samples of a person's places, each moved by noise: `emd-itemwise`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from hazemap_device.encodings.axes import Axes
from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.lattice import CELL_BYTES
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields

MOST_SAMPLES: Final = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(Encoding):
    """Reports so many places, drawn with replacement, each as `Axes` does."""

    kind: ClassVar[str] = "items"
    message_bytes: ClassVar[int] = CELL_BYTES
    takes_many: ClassVar[bool] = True
    samples: int
    axes: Axes

    @classmethod
    def read(cls, values: object) -> Self:
        fields = Fields(values, "kind samples columns rows across along", of="encoding")
        return cls(samples=fields.whole("samples", 1, MOST_SAMPLES), axes=Axes.of(fields))

    @property
    def messages(self) -> int:
        return self.samples

    @property
    def table_bytes(self) -> int:
        return self.axes.table_bytes

    def check_table(self, table: bytes) -> None:
        """Checks that the table is a law. Errors: `DeviceError`."""
        # What the noise of one place costs is not compared: the promise is of the whole crowd's.
        self.axes.check_table(table)
        for _, sums in self.axes.laws(table):
            sums.check_law()

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        messages = []
        for _ in range(self.samples):
            place = cells[uniform_below(words, len(cells))]
            messages.append(self.axes.moved(place, table, words))
        return messages
