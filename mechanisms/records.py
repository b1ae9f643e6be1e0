"""Check-ins of persons as integer masses: each person weighs at most `unit`, exactly."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import in_range, power_of_two
from mechanisms.grid import FINEST_LEVEL, parent
from mechanisms.interface import MassMap

MAX_UNIT: Final = 2**62

Integers = NDArray[np.int64]


def masses(*, persons: ArrayLike, cells: ArrayLike, level: int, unit: int) -> MassMap:
    """The sum of all persons' masses, from one row per check-in in any order.

    persons: (r,) integers that tell persons apart. cells: (r,) Morton codes at `FINEST_LEVEL`.
    A person with k check-ins, c of them in a cell of `level`, adds floor(unit · c / k) to it: the L1 norm of
    what one person adds is at most `unit` whatever the record, in integer arithmetic.
    Errors: `ParameterError` for a level or unit out of range.
    """
    _check(level, unit)
    person, cell = _columns(persons, parent(cells, FINEST_LEVEL - level))
    order = np.lexsort((cell, person))
    person, cell = person[order], cell[order]
    starts = _run_starts(person, cell)
    count = _run_lengths(starts, person.size)
    return _summed(person[starts], cell[starts], count, level=level, unit=unit)


def masses_from_counts(
    persons: ArrayLike, cells: ArrayLike, counts: ArrayLike, *, level: int, unit: int
) -> MassMap:
    """As `masses`, from rows with a number of check-ins each; a (person, cell) may have several rows."""
    _check(level, unit)
    person, cell, count = _columns(persons, parent(cells, FINEST_LEVEL - level), counts)
    if (count < 0).any():
        raise ValueError("counts must not be negative")
    present = np.flatnonzero(count)
    order = present[np.lexsort((cell[present], person[present]))]
    person, cell, count = person[order], cell[order], count[order]
    starts = _run_starts(person, cell)
    return _summed(person[starts], cell[starts], _run_sums(count, starts), level=level, unit=unit)


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
    order = np.argsort(cell, kind="stable")
    order = order[mass[order] > 0]
    cell, mass = cell[order], mass[order]
    starts = _run_starts(cell)
    return MassMap(level=level, unit=unit, cells=cell[starts], masses=_run_sums(mass, starts))


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
