"""Tells users apart by short hashes of their names, with a key that is drawn anew and never stored.

For sums in memory over files alone: what is stored has the hashes of `heatmaps.pseudonyms.keys`.
"""

import secrets
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from heatmaps.pseudonyms import user_names
from heatmaps.pseudonyms.name_column import NameColumn
from mechanisms.records.key_counts import PersonTags

WORD: Final = 8  # bytes that are taken at once
LONGEST: Final = 8 * WORD  # bytes of a name that numpy hashes; longer ones are few
_NAMES_AT_ONCE: Final = 1 << 12  # of which the sums stay near the processor
_SUMS: Final = 3
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)
_MASKS: Final = np.array([(1 << 8 * count) - 1 for count in range(WORD + 1)], np.uint64)
_DIGEST: Final = np.dtype([("first", "<u8"), ("second", "<u4")])

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class NameHasher:
    """Hashes names, in normal form C, by a family of functions that is strongly universal.

    A name of at most `LONGEST` bytes is its length n and its words w of 32 bits, zeros behind it. Each of
    three sums (k + k' n + Σ kᵢ wᵢ) mod 2⁶⁴ with keys of its own gives its upper 32 bits, so that two names
    agree in all of them with a probability of 2⁻⁹⁶, whatever the names, and any two of a hundred million with
    less than 10⁻¹³ (Lemire and Kaser, Strongly universal string hashing is fast, Computer Journal 57, 2014:
    MULTILINEAR). Longer names have 96 bits of BLAKE2b.
    """

    keys: NDArray[np.uint64] = field(repr=False)  # (3, 2 + words)
    long_key: bytes = field(repr=False)

    @classmethod
    def with_random_keys(cls) -> Self:
        """Draws the keys from the operating system."""
        shape = (_SUMS, 2 + LONGEST // 4)
        return cls(
            keys=np.frombuffer(secrets.token_bytes(8 * shape[0] * shape[1]), np.uint64).reshape(shape),
            long_key=secrets.token_bytes(32),
        )

    def tags(self, names: NameColumn) -> PersonTags:
        """Returns (k,) hashes; those of names outside ASCII are of their normal form."""
        tags = self._of_bytes(names)
        beyond = names.beyond_ascii()
        if beyond.size:
            normal = self._of_bytes(NameColumn.of(user_names.normal(names.strings(beyond))))
            tags.first[beyond], tags.second[beyond] = normal.first, normal.second
        return tags

    def _of_bytes(self, names: NameColumn) -> PersonTags:
        lengths = names.lengths
        tags = PersonTags(np.empty(len(names), np.uint64), np.empty(len(names), np.uint32))
        # Every place of the text is the start of a word of its own: names begin anywhere.
        text = np.frombuffer(names.text + bytes(WORD), np.uint8)
        word_at = np.ndarray((len(names.text) + 1,), "<u8", text, strides=(1,))
        for low in range(0, len(names), _NAMES_AT_ONCE):
            part = slice(low, low + _NAMES_AT_ONCE)
            sums = self._sums(word_at, names.ends[part] - lengths[part], lengths[part])
            tags.first[part] = sums[0] & ~_LOW | sums[1] >> _HALF
            tags.second[part] = sums[2] >> _HALF
        for place in np.flatnonzero(lengths > LONGEST).tolist():
            name = names.text[names.ends[place] - lengths[place] : names.ends[place]]
            content = blake2b(name, key=self.long_key, digest_size=_DIGEST.itemsize).digest()
            digest = np.frombuffer(content, _DIGEST)
            tags.first[place], tags.second[place] = digest["first"][0], digest["second"][0]
        return tags

    def _sums(self, word_at: Words, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[Words]:
        """Returns the sums of names that start there; of those longer than `LONGEST`, of their beginnings.

        word_at: the eight bytes from each place of the text on.
        """
        length = lengths.astype(np.uint64)
        sums = [keys[0] + keys[1] * length for keys in self.keys]
        shortest, longest = int(lengths.min()), min(int(lengths.max()), LONGEST)
        for at in range(0, longest, WORD):
            rows = slice(None) if shortest > at else np.flatnonzero(lengths > at)
            words = word_at[starts[rows] + at]
            if shortest < at + WORD:
                words &= _MASKS[np.minimum(lengths[rows] - at, WORD)]
            low, high = words & _LOW, words >> _HALF
            for sum_, keys in zip(sums, self.keys, strict=True):
                addend = keys[2 + at // 4] * low
                if longest > at + WORD // 2:  # otherwise it is zero
                    addend += keys[3 + at // 4] * high
                sum_[rows] += addend
        return sums
