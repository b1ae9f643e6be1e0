"""Reports masses with noise on all levels as sums of random shares: `shuffle-emd`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

from hazemap_device.encodings import morton
from hazemap_device.encodings.encoding import Encoding
from hazemap_device.encodings.polya import Polya
from hazemap_device.encodings.running_sums import RunningSums
from hazemap_device.places import Cell
from hazemap_device.random_words import WordSource, uniform_below
from hazemap_device.strict_json import Fields, exact, refuse

COORDINATE_BYTES: Final = 4
FINEST: Final = 8
MOST_SHARES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(Encoding):
    """Sends a coordinate for every cell of every level, and so many shares of each."""

    kind: ClassVar[str] = "shares"
    takes_many: ClassVar[bool] = True
    levels: tuple[int, ...]
    parts: int
    shares: int
    modulus: int
    value_bytes: int
    scales: tuple[Fraction, ...]
    cluster_entries: tuple[int, ...]  # a level's running sums in the table
    number_bytes: int

    @classmethod
    def read(cls, values: object) -> Self:
        keys = "kind levels parts shares modulus value_bytes scales cluster_entries number_bytes"
        fields = Fields(values, keys, of="encoding")
        listed = fields.raw("levels")
        count = len(listed) if isinstance(listed, list) and 1 <= len(listed) <= FINEST + 1 else 1
        levels = fields.wholes("levels", count, 0, FINEST)
        modulus = fields.large("modulus", 2, 1 << 62)
        value_bytes = fields.whole("value_bytes", 1, 8)
        if list(levels) != list(range(levels[0], levels[0] + count)):
            refuse("encoding: levels")
        if modulus & (modulus - 1) or modulus > 1 << (8 * value_bytes):
            refuse("encoding: modulus")
        scales = tuple(_scale(text) for text in fields.texts("scales", count))
        return cls(
            levels=levels,
            parts=fields.whole("parts", 1, 1 << 16),
            shares=fields.whole("shares", 2, MOST_SHARES),
            modulus=modulus,
            value_bytes=value_bytes,
            scales=scales,
            cluster_entries=fields.wholes("cluster_entries", count, 1, 10**6),
            number_bytes=fields.whole("number_bytes", 1, 1024),
        )

    @property
    def message_bytes(self) -> int:
        return COORDINATE_BYTES + self.value_bytes

    @property
    def messages(self) -> int:
        return self.shares * sum(1 << 2 * level for level in self.levels)

    @property
    def table_bytes(self) -> int:
        return self.number_bytes * sum(self.cluster_entries)

    def check_table(self, table: bytes) -> None:
        for counts in self._counts(table):
            counts.check_law()

    def _counts(self, table: bytes) -> Iterator[RunningSums]:
        """Returns, by level, the law of the number of clusters."""
        start = 0
        for entries in self.cluster_entries:
            yield RunningSums(table=table, count=entries, start=start, width=self.number_bytes)
            start += entries * self.number_bytes

    def _draw(self, cells: Sequence[Cell], table: bytes, words: WordSource) -> list[bytes]:
        messages, first_coordinate = [], 0
        laws = zip(self.levels, self.scales, self._counts(table), strict=True)
        for level, scale, counts in laws:
            noise = Polya(scale=scale, counts=counts)
            masses = self._masses(cells, level)
            for place in range(1 << 2 * level):
                noisy = masses[place] + noise.draw(words)
                noisy -= noise.draw(words)
                messages += self._split(first_coordinate + place, noisy % self.modulus, words)
            first_coordinate += 1 << 2 * level
        return messages

    def _masses(self, cells: Sequence[Cell], level: int) -> Counter[int]:
        """Returns parts by code of a level: whole parts of each place, the rest of a division left out."""
        masses: Counter[int] = Counter()
        for cell in cells:
            masses[morton.code(cell, level)] += self.parts // len(cells)
        return masses

    def _split(self, coordinate: int, value: int, words: WordSource) -> list[bytes]:
        """Returns shares that are random by themselves and the value together, modulo `modulus`."""
        free = [uniform_below(words, self.modulus) for _ in range(self.shares - 1)]
        last = (value - sum(free)) % self.modulus
        at = coordinate.to_bytes(COORDINATE_BYTES, "big")
        return [at + share.to_bytes(self.value_bytes, "big") for share in (*free, last)]


def _scale(text: str) -> Fraction:
    scale = exact(text)
    return scale if scale and scale <= 2**40 else refuse("encoding: scales")
