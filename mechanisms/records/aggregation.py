"""Aggregates check-ins into integer masses, each person at most `unit`, and into record means."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import in_range, power_of_two
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import FINEST_LEVEL, morton_decode, parent

MAX_UNIT: Final = 2**62

_INTEGER_BITS: Final = 63
_IN_CACHE: Final = 1 << 16  # rows, of which the steps of a sum need no memory of their own
_DENSE: Final = 1 << 24  # cells of a grid, at most, that is held whole: 128 MB, and nothing to sort
_FULL: Final = 1 / 16  # rows a cell, from which that is less work than sorting the rows, and as much memory

_RECORDS: Final = "there must be at most as many records as persons, and none may be empty"

Integers = NDArray[np.int64]
KeyShares = tuple[Integers, Integers]  # keys and masses, one row per person and key
MeanSums = tuple[int, int, int]  # persons, and the sums of their means: x and y in parts, as `RecordMeans`


def masses(*, persons: ArrayLike, cells: ArrayLike, level: int, unit: int) -> MassMap:
    """Sums all persons' masses over the cells of one level, from one row per check-in in any order.

    persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at `FINEST_LEVEL`.
    A person with k check-ins, c of them in a cell of `level`, adds floor(unit · c / k) to it: the L1 norm of
    what one person adds is at most `unit` whatever the record, in integer arithmetic.
    Errors: `ParameterError` for a level or unit out of range.
    """
    key = RowKey(level=level)
    [mass_map] = masses_by_bin(persons=persons, keys=parent(cells, FINEST_LEVEL - level), key=key, unit=unit)
    return mass_map


def masses_by_bin(*, persons: ArrayLike, keys: ArrayLike, key: RowKey, unit: int) -> tuple[MassMap, ...]:
    """Sums as `masses`, over the keys of `key`: a map of each bin, of which a person has one unit together.

    keys: (r,) integers as `RowKey.of_rows` returns them.
    """
    _, number = np.unique(np.asarray(persons, np.int64), return_inverse=True)
    keys_of_each, mass = shares_of_numbered(numbers=number, keys=keys, unit=unit)
    return _sum_by_key(keys_of_each, mass, key=key, unit=unit)


def shares_of_numbered(
    *, numbers: ArrayLike, keys: ArrayLike, unit: int, counts: ArrayLike | None = None
) -> KeyShares:
    """Returns the summands of `masses_by_bin`: for each key of each person, the key and the mass.

    numbers: (r,) persons, numbered from 0 on without large gaps. keys: (r,) integers as `RowKey.of_rows`
    returns them. counts: (r,) check-ins of each row; None: one a row.
    """
    _check_unit(unit)
    if counts is not None:
        number, key, count = summed_counts(numbers, keys, counts)
        return key, _floor_shares(unit, count, _totals_by_person(number, count))
    number, key = _columns(numbers, keys)
    checkins = np.bincount(number)
    number, key, count = _counted(number, key)
    return key, _floor_shares(unit, count, checkins[number])


def shares_of_ordered(*, lengths: ArrayLike, keys: ArrayLike, unit: int) -> KeyShares:
    """Returns the same as `shares_of_numbered`, from check-ins ordered by person and a person's by key.

    lengths: (k,) check-ins of each person, above 0. keys: (r,), one of each check-in. Sorts nothing, as what
    is in order at the finest level is in order at all coarser ones.
    Errors: ValueError where the lengths do not sum to r.
    """
    _check_unit(unit)
    length, key = np.asarray(lengths, np.int64), np.asarray(keys, np.int64)
    ends = np.cumsum(length)
    if (int(ends[-1]) if ends.size else 0) != key.size or (length <= 0).any():
        raise ValueError("lengths must be above 0 and sum to the number of rows")
    first = np.ones(key.size, np.bool_)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    first[ends - length] = True
    starts = np.flatnonzero(first)
    keys_of_each = _run_sums(first.astype(np.int64), ends - length)
    return key[starts], _floor_shares(unit, _run_lengths(starts, key.size), np.repeat(length, keys_of_each))


def sum_of_shares(parts: Iterable[KeyShares], *, key: RowKey, unit: int) -> tuple[MassMap, ...]:
    """Sums what persons have by key, at most `unit` each, in any order, each person in one part.

    Returns a map of each bin. At most `_DENSE` keys are held whole once there are `_FULL` rows a key, and
    each part is added as it is taken. Of more keys 8 bytes are kept for each key of each person, and those
    twice; of fewer rows 16 more.
    """
    _check_unit(unit)
    bits = unit.bit_length()
    if key.size <= _DENSE:
        held, rows, sums = list[KeyShares](), 0, None
        for part in parts:
            held.append(part)
            rows += part[0].size
            if rows > _FULL * key.size:
                sums = np.zeros(key.size, np.int64) if sums is None else sums
                while held:
                    np.add.at(sums, *held.pop())
        if sums is not None:
            positive = np.flatnonzero(sums)
            return key.mass_maps(positive, sums[positive], unit=unit)
        parts = held
    if (key.size - 1).bit_length() + bits > _INTEGER_BITS:
        keys, mass = (np.concatenate([_NOTHING, *columns]) for columns in zip(*parts, strict=True))
        return _sum_by_key(keys, mass, key=key, unit=unit)
    pairs = np.concatenate([_NOTHING, *(keys << bits | mass for keys, mass in parts)])
    return key.mass_maps(*_sums_of_pairs(pairs, bits), unit=unit)


def masses_from_counts(
    persons: ArrayLike, keys: ArrayLike, counts: ArrayLike, *, key: RowKey, unit: int
) -> tuple[MassMap, ...]:
    """Sums as `masses_by_bin`, from rows with a number of check-ins each.

    A (person, key) may have several rows.
    """
    _check_unit(unit)
    keys_of_each, mass = shares_of_numbered(numbers=persons, keys=keys, counts=counts, unit=unit)
    return _sum_by_key(keys_of_each, mass, key=key, unit=unit)


def record_means(*, counts: ArrayLike, columns: ArrayLike, rows: ArrayLike, enrolled: int) -> RecordMeans:
    """Sums the mean positions of all persons enrolled, from one row per person with check-ins.

    counts: (k,) check-ins of each; columns, rows: (k,) sums of their finest cells' columns and rows. A mean
    is rounded to whole parts by its own record alone, so one person moves the sum by what they move.
    Persons enrolled without a row stand at the region's centre.
    Errors: ValueError, without a number of it, for more rows than persons or counts that are not above 0.
    """
    return means_of([mean_sums(counts=counts, columns=columns, rows=rows)], enrolled=enrolled)


def position_sums(persons: ArrayLike, cells: ArrayLike) -> tuple[Integers, Integers, Integers]:
    """Returns check-ins, sum of columns and sum of rows by person, as `mean_sums` takes them.

    From one row per check-in. persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at
    `FINEST_LEVEL`. A person may have up to 2^32 check-ins: the sums stay below 2^63.
    """
    person, cell = _columns(persons, cells)
    order = np.argsort(person)
    starts = _run_starts(person[order])
    column, row = morton_decode(cell[order], FINEST_LEVEL)
    return _run_lengths(starts, person.size), _run_sums(column, starts), _run_sums(row, starts)


def mean_sums(*, counts: ArrayLike, columns: ArrayLike, rows: ArrayLike) -> MeanSums:
    """Returns persons with check-ins and the sums of their means, of some persons; as `record_means`."""
    count, column, row = _columns(counts, columns, rows)
    if (count <= 0).any():
        raise ValueError(_RECORDS)
    x, y = (int(_mean_parts(sums, count).sum()) for sums in (column, row))
    return count.size, x, y


def means_of(parts: Sequence[MeanSums], *, enrolled: int) -> RecordMeans:
    """Sums over all persons what `mean_sums` returned of different ones. Errors: as `record_means`."""
    persons, x, y = (sum(column) for column in zip(*parts, strict=True))
    missing = enrolled - persons
    if missing < 0:
        raise ValueError(_RECORDS)
    centre = missing * PARTS // 2
    return RecordMeans(persons=enrolled, x=x + centre, y=y + centre)


def item_records(*, persons: ArrayLike, cells: ArrayLike, counts: ArrayLike, level: int) -> ItemRecords:
    """Returns each person's record; nothing is divided.

    persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at `FINEST_LEVEL`. counts: (r,)
    check-ins; a (person, cell) may have several rows.
    """
    in_range(0, FINEST_LEVEL, level=level)
    person, cell, count = summed_counts(persons, parent(cells, FINEST_LEVEL - level), counts)
    rows = _run_lengths(_run_starts(person), person.size)
    return ItemRecords(level=level, rows=rows, cells=cell, counts=count)


def summed_counts(
    persons: ArrayLike, keys: ArrayLike, counts: ArrayLike
) -> tuple[Integers, Integers, Integers]:
    """Returns one row for each (person, key) with check-ins, ordered by both; counts are summed."""
    person, key, count = _columns(persons, keys, counts)
    if (count < 0).any():
        raise ValueError("counts must not be negative")
    present = np.flatnonzero(count)
    order = present[_order(person[present], key[present])]
    person, key, count = person[order], key[order], count[order]
    starts = _run_starts(person, key)
    return person[starts], key[starts], _run_sums(count, starts)


_NOTHING: Final = np.zeros(0, np.int64)


def _check_unit(unit: int) -> None:
    power_of_two(1, MAX_UNIT, unit=unit)


def _columns(*columns: ArrayLike) -> tuple[Integers, ...]:
    arrays = tuple(np.asarray(column, np.int64) for column in columns)
    if any(array.ndim != 1 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError("persons, cells and counts must be one-dimensional and of one length")
    return arrays


def _sum_by_key(keys: Integers, mass: Integers, *, key: RowKey, unit: int) -> tuple[MassMap, ...]:
    """Sums by key, of (r,) keys and (r,) mass units in any order."""
    bits = _bits(mass)
    if _bits(keys) + bits > _INTEGER_BITS:
        order = np.argsort(keys, kind="stable")
        keys, mass = keys[order], mass[order]
        starts = _run_starts(keys)
        return key.mass_maps(*_without_zeros(keys[starts], _run_sums(mass, starts)), unit=unit)
    return key.mass_maps(*_sums_of_pairs(keys << bits | mass, bits), unit=unit)


def _counted(number: Integers, keys: Integers) -> tuple[Integers, Integers, Integers]:
    """Returns (number, key, rows) of each pair that occurs, ordered."""
    bits = _bits(keys)
    if _bits(number) + bits > _INTEGER_BITS:
        # Grids finer than any map: their cells by rank, which is short, too.
        values, rank = np.unique(keys, return_inverse=True)
        number, rank, count = _counted(number, rank)
        return number, values[rank], count
    pair = np.sort(number << bits | keys)
    starts = _run_starts(pair)
    count = _run_lengths(starts, pair.size)
    pair = pair[starts]
    return pair >> bits, pair & ((1 << bits) - 1), count


def _order(person: Integers, keys: Integers) -> Integers:
    """Returns the places of rows in order of person and key."""
    bits = _bits(keys)
    if min(person.min(initial=0), keys.min(initial=0)) < 0 or _bits(person) + bits > _INTEGER_BITS:
        return np.lexsort((keys, person))
    return np.argsort(person << bits | keys)  # one number a row, in a fifth of the time


def _sums_of_pairs(pairs: Integers, bits: int) -> tuple[Integers, Integers]:
    """Sums by key, of keys with masses of so many bits below them; the pairs are written over."""
    pairs.sort()
    keys, mass, filled = pairs, np.empty_like(pairs), 0
    for part in _cut(pairs, bits):
        keys_of_each = part >> bits
        starts = _run_starts(keys_of_each)
        done = slice(filled, filled := filled + starts.size)  # never beyond what is summed
        mass[done] = _run_sums(part & ((1 << bits) - 1), starts)
        keys[done] = keys_of_each[starts]
    if 2 * filled < pairs.size:
        return _without_zeros(keys[:filled].copy(), mass[:filled].copy())
    return _without_zeros(keys[:filled], mass[:filled])


def _cut(pairs: Integers, bits: int) -> list[Integers]:
    """Returns parts of about `_IN_CACHE` rows, each with all rows of its keys."""
    near = pairs[_IN_CACHE::_IN_CACHE] >> bits << bits
    return np.split(pairs, np.unique(np.searchsorted(pairs, near)))


def _without_zeros(keys: Integers, mass: Integers) -> tuple[Integers, Integers]:
    positive = mass > 0
    return (keys, mass) if positive.all() else (keys[positive], mass[positive])


def _bits(values: Integers) -> int:
    """Returns the number of bits that hold every value; none is negative."""
    return int(values.max(initial=0)).bit_length()


def _mean_parts(sums: Integers, count: Integers) -> Integers:
    """Returns the nearest whole part to Σ (2 · cell + 1) / count: the middles of cells, in half cells."""
    twice = 2 * (2 * sums + count)
    nearest: Integers = (twice + count) // (2 * count)
    return nearest


def _totals_by_person(person: Integers, count: Integers) -> Integers:
    """Returns each row's person's number of check-ins."""
    starts = _run_starts(person)
    return np.repeat(_run_sums(count, starts), _run_lengths(starts, person.size))


def _floor_shares(unit: int, count: Integers, total: Integers) -> Integers:
    """Returns floor(unit · count / total)."""
    # Python's integers where the product would leave 63 bits.
    if count.size and unit * int(count.max()) >= 2**63:
        exact: Integers = (unit * count.astype(object) // total.astype(object)).astype(np.int64)
        return exact
    shares: Integers = unit * count // total
    return shares


def _run_starts(*keys: Integers) -> Integers:
    """Returns the places where a row differs from the one before in any key; none for no rows."""
    changed = np.zeros(keys[0].size, np.bool_)
    changed[:1] = True
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changed)


def _run_lengths(starts: Integers, size: int) -> Integers:
    lengths: Integers = np.diff(starts, append=size)
    return lengths


def _run_sums(values: Integers, starts: Integers) -> Integers:
    # Integers only: np.bincount with weights would sum in floating point.
    sums: Integers = np.add.reduceat(values, starts) if starts.size else np.zeros(0, np.int64)
    return sums
