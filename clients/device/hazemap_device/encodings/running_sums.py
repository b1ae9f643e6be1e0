"""Looks numbers up in the running sums of a public table."""

from bisect import bisect_right
from dataclasses import dataclass, field

from hazemap_device.errors import DeviceError
from hazemap_device.random_words import WordSource, uniform_below


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSums:
    """Reads `count` big-endian numbers of `width` bytes, never falling, from byte `start` of a table."""

    table: bytes = field(repr=False)
    count: int
    start: int = 0
    width: int = 8

    @property
    def last(self) -> int:
        return self._at(self.count - 1)

    def at_most(self, number: int) -> int:
        """Counts the sums that are at most the number."""
        return bisect_right(range(self.count), number, key=self._at)

    def entry(self, words: WordSource) -> int:
        """Draws an entry of a law whose last running sum is 256^width, and left out."""
        return self.at_most(uniform_below(words, 1 << (8 * self.width)))

    def weights(self) -> list[int]:
        """Returns the amount that each entry adds to the sum. Errors: `DeviceError` where a sum falls."""
        sums = [self._at(index) for index in range(self.count)]
        weights = [after - before for before, after in zip([0, *sums], sums, strict=False)]
        if min(weights) < 0:
            raise refused_table()
        return weights

    def check_law(self) -> None:
        """Raises `DeviceError` where a sum falls, or none of several rises: that is no law of noise."""
        if sum(weight > 0 for weight in self.weights()[1:]) == 0 and self.count > 1:
            raise refused_table()

    def _at(self, index: int) -> int:
        first = self.start + index * self.width
        return int.from_bytes(self.table[first : first + self.width], "big")


def refused_table() -> DeviceError:
    return DeviceError(
        "false_promise",
        "The round's table is no law of reports and does not blur. Do not take part, and tell them.",
    )
