"""Aggregates check-ins into integer masses, each person at most `unit`, and into record means."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import in_range, power_of_two
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import FINEST_LEVEL, morton_decode, parent

MAX_UNIT: Final = 2**62

_INTEGER_BITS: Final = 63
_IN_CACHE: Final = 1 << 16  # rows, of which the steps of a sum need no memory of their own
_DENSE: Final = 1 << 24  # cells of a grid, at most, that is held whole: 128 MB, and nothing to sort

_RECORDS: Final = "there must be at most as many records as persons, and none may be empty"

Integers = NDArray[np.int64]
CellShares = tuple[Integers, Integers]  # cells and masses, one row per person and cell
MeanSums = tuple[int, int, int]  # persons, and the sums of their means: x and y in parts, as `RecordMeans`


def masses(*, persons: ArrayLike, cells: ArrayLike, level: int, unit: int) -> MassMap:
    """The sum of all persons' masses, from one row per check-in in any order.

    persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at `FINEST_LEVEL`.
    A person with k check-ins, c of them in a cell of `level`, adds floor(unit · c / k) to it: the L1 norm of
    what one person adds is at most `unit` whatever the record, in integer arithmetic.
    Errors: `ParameterError` for a level or unit out of range.
    """
    _, number = np.unique(np.asarray(persons, np.int64), return_inverse=True)
    return masses_of_numbered(numbers=number, cells=cells, level=level, unit=unit)


def masses_of_numbered(*, numbers: ArrayLike, cells: ArrayLike, level: int, unit: int) -> MassMap:
    """As `masses`, of persons that are numbered from 0 on without large gaps."""
    cell, mass = shares_of_numbered(numbers=numbers, cells=cells, level=level, unit=unit)
    return sum_by_cell(cell, mass, level=level, unit=unit)


def shares_of_numbered(*, numbers: ArrayLike, cells: ArrayLike, level: int, unit: int) -> CellShares:
    """What `masses_of_numbered` sums: for each cell of each person, the cell and the mass."""
    _check(level, unit)
    number, cell = _columns(numbers, parent(cells, FINEST_LEVEL - level))
    checkins = np.bincount(number)
    number, cell, count = _counted(number, cell)
    return cell, _floor_shares(unit, count, checkins[number])


def shares_of_ordered(*, lengths: ArrayLike, cells: ArrayLike, level: int, unit: int) -> CellShares:
    """As `shares_of_numbered`, from one row per check-in, ordered by person and a person's by cell.

    lengths: (k,) check-ins of each person, above 0. cells: (r,) Morton codes at `FINEST_LEVEL`. Sorts
    nothing, as what is in order at one level is in order at all coarser ones.
    Errors: ValueError where the lengths do not sum to r.
    """
    _check(level, unit)
    length, cell = np.asarray(lengths, np.int64), np.asarray(parent(cells, FINEST_LEVEL - level), np.int64)
    ends = np.cumsum(length)
    if (int(ends[-1]) if ends.size else 0) != cell.size or (length <= 0).any():
        raise ValueError("lengths must be above 0 and sum to the number of rows")
    first = np.ones(cell.size, np.bool_)
    np.not_equal(cell[1:], cell[:-1], out=first[1:])
    first[ends - length] = True
    starts = np.flatnonzero(first)
    cells_of_each = _run_sums(first.astype(np.int64), ends - length)
    return cell[starts], _floor_shares(
        unit, _run_lengths(starts, cell.size), np.repeat(length, cells_of_each)
    )


def sum_of_shares(parts: Iterable[CellShares], *, level: int, unit: int) -> MassMap:
    """The sum of what persons have in cells, at most `unit` each, in any order, each person in one part.

    Grids of at most `_DENSE` cells are held whole, and each part is added as it is taken. On finer ones
    8 bytes are kept for each cell of each person, and those twice.
    """
    _check(level, unit)
    bits = unit.bit_length()
    if 4**level <= _DENSE:
        held = np.zeros(4**level, np.int64)
        for cell, mass in parts:
            np.add.at(held, cell, mass)
        cells = np.flatnonzero(held)
        return MassMap(level=level, unit=unit, cells=cells, masses=held[cells])
    if 2 * level + bits > _INTEGER_BITS:
        cell, mass = (np.concatenate([_NOTHING, *columns]) for columns in zip(*parts, strict=True))
        return sum_by_cell(cell, mass, level=level, unit=unit)
    pairs = np.concatenate([_NOTHING, *(cell << bits | mass for cell, mass in parts)])
    return _sums_of_pairs(pairs, bits, level=level, unit=unit)


def sum_by_cell(cell: Integers, mass: Integers, *, level: int, unit: int) -> MassMap:
    """The sum by cell, of (r,) Morton codes of `level` and (r,) mass units in any order; without zeros."""
    bits = _bits(mass)
    if _bits(cell) + bits > _INTEGER_BITS:
        order = np.argsort(cell, kind="stable")
        cell, mass = cell[order], mass[order]
        starts = _run_starts(cell)
        return _without_zeros(cell[starts], _run_sums(mass, starts), level=level, unit=unit)
    return _sums_of_pairs(cell << bits | mass, bits, level=level, unit=unit)


def masses_from_counts(
    persons: ArrayLike, cells: ArrayLike, counts: ArrayLike, *, level: int, unit: int
) -> MassMap:
    """As `masses`, from rows with a number of check-ins each; a (person, cell) may have several rows."""
    _check(level, unit)
    person, cell, count = counts_joined(persons, parent(cells, FINEST_LEVEL - level), counts)
    return _summed(person, cell, count, level=level, unit=unit)


def record_means(*, counts: ArrayLike, columns: ArrayLike, rows: ArrayLike, enrolled: int) -> RecordMeans:
    """The sum of the mean positions of all persons enrolled, from one row per person with check-ins.

    counts: (k,) check-ins of each; columns, rows: (k,) sums of their finest cells' columns and rows. A mean
    is rounded to whole parts by its own record alone, so one person moves the sum by what they move.
    Persons enrolled without a row stand at the region's centre.
    Errors: ValueError, without a number of it, for more rows than persons or counts that are not above 0.
    """
    return means_of([mean_sums(counts=counts, columns=columns, rows=rows)], enrolled=enrolled)


def position_sums(persons: ArrayLike, cells: ArrayLike) -> tuple[Integers, Integers, Integers]:
    """Check-ins, sum of columns and sum of rows by person, from one row per check-in, as `mean_sums` takes.

    persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at `FINEST_LEVEL`. A person
    may have up to 2^32 check-ins: the sums stay below 2^63.
    """
    person, cell = _columns(persons, cells)
    order = np.argsort(person)
    starts = _run_starts(person[order])
    column, row = morton_decode(cell[order], FINEST_LEVEL)
    return _run_lengths(starts, person.size), _run_sums(column, starts), _run_sums(row, starts)


def mean_sums(*, counts: ArrayLike, columns: ArrayLike, rows: ArrayLike) -> MeanSums:
    """Persons with check-ins and the sums of their means, of some of the persons; as `record_means`."""
    count, column, row = _columns(counts, columns, rows)
    if (count <= 0).any():
        raise ValueError(_RECORDS)
    x, y = (int(_mean_parts(sums, count).sum()) for sums in (column, row))
    return count.size, x, y


def means_of(parts: Sequence[MeanSums], *, enrolled: int) -> RecordMeans:
    """All persons, from what `mean_sums` said of different ones. Errors: as `record_means`."""
    found, x, y = (sum(column) for column in zip(*parts, strict=True))
    missing = enrolled - found
    if missing < 0:
        raise ValueError(_RECORDS)
    centre = missing * PARTS // 2
    return RecordMeans(persons=enrolled, x=x + centre, y=y + centre)


def item_records(*, persons: ArrayLike, cells: ArrayLike, counts: ArrayLike, level: int) -> ItemRecords:
    """What each person's record holds, from rows as `masses_from_counts` takes them; nothing is divided."""
    in_range(0, FINEST_LEVEL, level=level)
    person, cell, count = counts_joined(persons, parent(cells, FINEST_LEVEL - level), counts)
    rows = _run_lengths(_run_starts(person), person.size)
    return ItemRecords(level=level, rows=rows, cells=cell, counts=count)


def counts_joined(
    persons: ArrayLike, cells: ArrayLike, counts: ArrayLike
) -> tuple[Integers, Integers, Integers]:
    """One row for each (person, cell) with check-ins, ordered by person and cell; counts are summed."""
    person, cell, count = _columns(persons, cells, counts)
    if (count < 0).any():
        raise ValueError("counts must not be negative")
    present = np.flatnonzero(count)
    order = present[np.lexsort((cell[present], person[present]))]
    person, cell, count = person[order], cell[order], count[order]
    starts = _run_starts(person, cell)
    return person[starts], cell[starts], _run_sums(count, starts)


_NOTHING: Final = np.zeros(0, np.int64)


def _check(level: int, unit: int) -> None:
    in_range(0, FINEST_LEVEL, level=level)
    power_of_two(1, MAX_UNIT, unit=unit)


def _columns(*columns: ArrayLike) -> tuple[Integers, ...]:
    arrays = tuple(np.asarray(column, np.int64) for column in columns)
    if any(array.ndim != 1 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError("persons, cells and counts must be one-dimensional and of one length")
    return arrays


def _summed(person: Integers, cell: Integers, count: Integers, *, level: int, unit: int) -> MassMap:
    """The sum over persons; one row per (person, cell), ordered by person, counts above 0."""
    mass = _floor_shares(unit, count, _totals_by_person(person, count))
    return sum_by_cell(cell, mass, level=level, unit=unit)


def _counted(number: Integers, cell: Integers) -> tuple[Integers, Integers, Integers]:
    """(number, cell, rows) of each pair that occurs, ordered."""
    bits = _bits(cell)
    if (
        _bits(number) + bits > _INTEGER_BITS
    ):  # grids finer than any map: their cells by rank, which is short, too
        values, rank = np.unique(cell, return_inverse=True)
        number, rank, count = _counted(number, rank)
        return number, values[rank], count
    pair = np.sort(number << bits | cell)
    starts = _run_starts(pair)
    count = _run_lengths(starts, pair.size)
    pair = pair[starts]
    return pair >> bits, pair & ((1 << bits) - 1), count


def _sums_of_pairs(pairs: Integers, bits: int, *, level: int, unit: int) -> MassMap:
    """The sum by cell, of cells with masses of so many bits below them; they are written over."""
    pairs.sort()
    parts = _cut(pairs, bits)
    cell, mass, filled = pairs, np.empty_like(pairs), 0
    for some in parts:
        cells = some >> bits
        starts = _run_starts(cells)
        done = slice(filled, filled := filled + starts.size)  # never beyond what is summed
        mass[done] = _run_sums(some & ((1 << bits) - 1), starts)
        cell[done] = cells[starts]
    if 2 * filled < pairs.size:
        return _without_zeros(cell[:filled].copy(), mass[:filled].copy(), level=level, unit=unit)
    return _without_zeros(cell[:filled], mass[:filled], level=level, unit=unit)


def _cut(pairs: Integers, bits: int) -> list[Integers]:
    """Parts of about `_IN_CACHE` rows, each with all rows of its cells."""
    near = pairs[_IN_CACHE::_IN_CACHE] >> bits << bits
    return np.split(pairs, np.unique(np.searchsorted(pairs, near)))


def _without_zeros(cell: Integers, mass: Integers, *, level: int, unit: int) -> MassMap:
    kept = mass > 0
    if not kept.all():
        cell, mass = cell[kept], mass[kept]
    return MassMap(level=level, unit=unit, cells=cell, masses=mass)


def _bits(values: Integers) -> int:
    """That hold every value; none is negative."""
    return int(values.max(initial=0)).bit_length()


def _mean_parts(sums: Integers, count: Integers) -> Integers:
    """The nearest whole part to Σ (2 · cell + 1) / count: the middles of cells, in parts of half a cell."""
    twice = 2 * (2 * sums + count)
    nearest: Integers = (twice + count) // (2 * count)
    return nearest


def _totals_by_person(person: Integers, count: Integers) -> Integers:
    """Each row's person's number of check-ins."""
    starts = _run_starts(person)
    return np.repeat(_run_sums(count, starts), _run_lengths(starts, person.size))


def _floor_shares(unit: int, count: Integers, total: Integers) -> Integers:
    """floor(unit · count / total); Python's integers where the product would leave 63 bits."""
    if count.size and unit * int(count.max()) >= 2**63:
        exact: Integers = (unit * count.astype(object) // total.astype(object)).astype(np.int64)
        return exact
    shares: Integers = unit * count // total
    return shares


def _run_starts(*keys: Integers) -> Integers:
    """Where a row differs from the one before in any key; empty for no rows."""
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
