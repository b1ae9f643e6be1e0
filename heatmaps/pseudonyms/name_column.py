"""Holds many users' names as one text, without an object for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

_CONTINUES, _CONTINUATION = 0xC0, 0x80  # bits of a byte of UTF-8, and those of one within a character


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NameColumn:
    """Holds names in UTF-8, one after the other, and where each of them ends."""

    text: bytes
    ends: NDArray[np.int64]  # (k,) places in the text, ascending

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Encodes names. Errors: UnicodeEncodeError."""
        encoded = [name.encode() for name in names]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(b"".join(encoded), np.cumsum(lengths))

    def __len__(self) -> int:
        return self.ends.size

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Returns (k,) bytes of each."""
        return np.diff(self.ends, prepend=0)

    @property
    def are_whole(self) -> bool:
        """Tells whether the text is UTF-8, the names are all of it, and each is at least one character."""
        if not self.ends.size:
            return not self.text
        # First, as lengths of ends that lie elsewhere could wrap around.
        if self.ends.min() < 0 or self.ends.max() > len(self.text) or self.ends[-1] != len(self.text):
            return False
        lengths = self.lengths
        if lengths.min() <= 0:
            return False
        return self.text.isascii() or self._are_characters(self.ends - lengths)

    def _are_characters(self, starts: NDArray[np.int64]) -> bool:
        """Tells whether the text is UTF-8 and a character begins at each of the places."""
        firsts = np.frombuffer(self.text, np.uint8)[starts]
        try:
            self.text.decode()
        except UnicodeDecodeError:
            return False
        return not ((firsts & _CONTINUES) == _CONTINUATION).any()

    def strings(self, places: NDArray[np.int64] | None = None) -> list[str]:
        """Returns the names at the places as texts; of all, where none are given."""
        ends = self.ends if places is None else self.ends[places]
        starts = ends - (self.lengths if places is None else self.lengths[places])
        parts = zip(starts.tolist(), ends.tolist(), strict=True)
        if self.text.isascii():
            text = self.text.decode("ascii")
            return [text[start:end] for start, end in parts]
        return [self.text[start:end].decode() for start, end in parts]

    def beyond_ascii(self) -> NDArray[np.int64]:
        """Returns the places of names with characters outside ASCII."""
        if self.text.isascii() or not len(self):
            return np.zeros(0, np.int64)
        beyond = np.flatnonzero(np.frombuffer(self.text, np.uint8) >= _CONTINUATION)
        return np.unique(np.searchsorted(self.ends, beyond, side="right"))
