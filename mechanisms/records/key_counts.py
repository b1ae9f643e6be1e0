"""Counts check-ins by person and key as they come, in memory that grows with what differs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.records.aggregation import KeyShares, shares_of_numbered, sum_of_shares, summed_counts
from mechanisms.records.mass_map import MassMap
from mechanisms.records.row_key import RowKey

_PART_BITS: Final = 6
_PARTS: Final = 1 << _PART_BITS  # of the persons, by the first bits of their tags
_ROWS_AT_ONCE: Final = 1 << 17  # about what a processor's cache holds the sums of
_ROWS_A_BLOCK: Final = 1 << 18  # that are divided into parts together
_FIRST_BOUND: Final = 1 << 22  # rows, about 80 MB

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PersonTags:
    """Holds 96 bits by which each of r rows names its person, spread evenly over all values."""

    first: NDArray[np.uint64] = field(repr=False)  # (r,)
    second: NDArray[np.uint32] = field(repr=False)  # (r,)

    def take(self, rows: NDArray[np.integer] | slice) -> Self:
        return type(self)(self.first[rows], self.second[rows])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """Holds rows in the order of their parts."""

    tags: PersonTags
    keys: Integers
    counts: Integers | None  # of check-ins; None: one a row
    starts: Integers  # (parts + 1,) where the rows of each part begin

    def rows(self, low: int, high: int) -> Self:
        """Returns the rows of some parts."""
        rows = slice(self.starts[low], self.starts[high])
        counts = None if self.counts is None else self.counts[rows]
        return type(self)(tags=self.tags.take(rows), keys=self.keys[rows], counts=counts, starts=self.starts)


class KeyCounts:
    """Counts check-ins by (person, key), of rows that are added in any order.

    Rows are held as they come, and summed once there are many: memory grows with the number of different
    (person, key), 20 to 50 bytes each, and not with that of check-ins.
    """

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._new: list[tuple[PersonTags, Integers]] = []  # rows that are in no block yet
        self._held, self._bound, self._new_rows = 0, _FIRST_BOUND, 0

    def add(self, tags: PersonTags, keys: ArrayLike) -> None:
        """Adds a check-in a row. keys: (r,) integers as `RowKey.of_rows` returns them."""
        own_keys = np.asarray(keys, np.int64)
        if not tags.first.shape == tags.second.shape == own_keys.shape:
            raise ValueError("tags and keys must be of one length")
        self._new.append((tags, own_keys))
        self._new_rows += own_keys.size
        if self._new_rows >= _ROWS_A_BLOCK:
            self._divide()
            if self._held > self._bound:
                self._sum_up()

    def masses(self, *, key: RowKey, unit: int) -> tuple[MassMap, ...]:
        """Sums each person's shares of `unit` by key, as `mechanisms.records.aggregation.masses_by_bin` does.

        Returns a map of each bin of the key.
        """
        return sum_of_shares(self._shares(unit), key=key, unit=unit)

    def _divide(self) -> None:
        """Makes a block of the new rows."""
        if not self._new:
            return
        tags = _joined_tags([tags for tags, _ in self._new])
        keys = np.concatenate([keys for _, keys in self._new])
        # One byte a row, which numpy sorts by counting.
        parts = (tags.first >> np.uint64(64 - _PART_BITS)).astype(np.uint8)
        order = np.argsort(parts, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=_PARTS))])
        self._blocks.append(_Block(tags=tags.take(order), keys=keys[order], counts=None, starts=starts))
        self._held += keys.size
        self._new, self._new_rows = [], 0

    def _shares(self, unit: int) -> Iterator[KeyShares]:
        self._divide()
        step = _PARTS
        while step > 1 and self._held * step > _ROWS_AT_ONCE * _PARTS:
            step //= 2
        for low in range(0, _PARTS, step):
            _, numbers, keys, counts = self._numbered(low, low + step)
            yield shares_of_numbered(numbers=numbers, keys=keys, counts=counts, unit=unit)

    def _sum_up(self) -> None:
        """Makes one row of all of a (person, key), unless few have several."""
        # The first part is a random sample of the persons; who has most of the check-ins is in the largest.
        sizes = np.sum([np.diff(block.starts) for block in self._blocks], axis=0)
        if self._halves(0) or self._halves(int(np.argmax(sizes))):
            self._blocks = [_joined([self._summed(part) for part in range(_PARTS)])]
            self._held = self._blocks[0].keys.size
        self._bound = max(_FIRST_BOUND, 2 * self._held)

    def _halves(self, part: int) -> bool:
        """Tells whether a part has half as many rows at most, once it is summed."""
        numbers, keys, counts = _weighted(self._numbered(part, part + 1))
        pairs, _, _ = summed_counts(numbers, keys, counts)
        return 2 * pairs.size <= keys.size

    def _summed(self, part: int) -> _Block:
        numbered = self._numbered(part, part + 1)
        numbers, keys, counts = summed_counts(*_weighted(numbered))
        return _Block(tags=numbered[0].take(numbers), keys=keys, counts=counts, starts=np.array([keys.size]))

    def _numbered(self, low: int, high: int) -> "_Numbered":
        """Returns the tags of the persons of some parts, and of their rows the person's number among them,
        the key, and the check-ins where they are counted."""
        blocks = [block.rows(low, high) for block in self._blocks]
        unordered = _joined_tags([block.tags for block in blocks])
        keys = np.concatenate([np.zeros(0, np.int64), *(block.keys for block in blocks)])
        order = np.argsort(unordered.first)
        tags = unordered.take(order)
        begins = _begins(tags)
        if begins is None:  # two persons share the first 64 bits
            order = np.lexsort((unordered.second, unordered.first))
            tags = unordered.take(order)
            begins = _differ(tags.first) | _differ(tags.second)
        counts = None
        if any(block.counts is not None for block in blocks):
            counts = np.concatenate([_counts(block) for block in blocks])[order]
        return tags.take(np.flatnonzero(begins)), np.cumsum(begins) - 1, keys[order], counts


_Numbered = tuple[PersonTags, Integers, Integers, Integers | None]


def _begins(tags: PersonTags) -> NDArray[np.bool_] | None:
    """Tells where another person begins, in rows ordered by the first 64 bits; None where they do not."""
    begins = _differ(tags.first)
    return None if (_differ(tags.second) & ~begins).any() else begins


def _differ(values: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    """Tells which values differ from the one before; the first one does."""
    differ = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=differ[1:])
    return differ


def _joined_tags(parts: list[PersonTags]) -> PersonTags:
    return PersonTags(
        np.concatenate([np.zeros(0, np.uint64), *(tags.first for tags in parts)]),
        np.concatenate([np.zeros(0, np.uint32), *(tags.second for tags in parts)]),
    )


def _counts(block: _Block) -> Integers:
    return np.ones(block.keys.size, np.int64) if block.counts is None else block.counts


def _weighted(numbered: _Numbered) -> tuple[Integers, Integers, Integers]:
    _, numbers, keys, counts = numbered
    return numbers, keys, np.ones(keys.size, np.int64) if counts is None else counts


def _joined(parts: list[_Block]) -> _Block:
    """Returns one block of one for each part."""
    return _Block(
        tags=_joined_tags([part.tags for part in parts]),
        keys=np.concatenate([part.keys for part in parts]),
        counts=np.concatenate([_counts(part) for part in parts]),
        starts=np.concatenate([[0], np.cumsum([part.keys.size for part in parts])]),
    )
