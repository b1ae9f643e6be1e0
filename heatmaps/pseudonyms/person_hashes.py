"""Splits keyed hashes of persons into two integers, 128 bits together.

Datasets made before have 63 bits in the first integer and none in the second.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Named as the columns of the tables.
PERSON: Final = np.dtype([("person", np.int64), ("person_rest", np.int64)])
NARROW_BITS: Final = 63
WITHOUT_SIGN: Final = 2**63 - 1  # the bits of the first integer that say which slot a person is in

Integers: TypeAlias = NDArray[np.int64]
Persons: TypeAlias = NDArray[Any]  # (k,) of `PERSON`


def persons_of(first: Integers, rest: Integers) -> Persons:
    """Joins both integers, (k,) each, in one array."""
    persons = np.empty(first.size, PERSON)
    persons["person"], persons["person_rest"] = first, rest
    return persons


def slots_of(persons: Persons, slots: int) -> Integers:
    """Returns (k,) numbers below `slots`, the same for the same person."""
    numbers: Integers = (persons["person"] & WITHOUT_SIGN) % slots
    return numbers


def numbered(persons: Persons) -> tuple[Integers, Persons]:
    """Returns (k,) numbers from 0 on in place of hashes, and the hash of each number.

    Short, so that one with a cell fits one integer.
    """
    first, rest = (np.ascontiguousarray(persons[name]) for name in ("person", "person_rest"))
    numbers = _numbers(first, pa.int64())
    rest_of_each = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    rest_of_each[numbers] = rest
    if (rest_of_each[numbers] != rest).any():
        # Half of the hash is not enough to tell some of them apart: the whole of it takes longer.
        numbers = _numbers(np.ascontiguousarray(persons), pa.binary(PERSON.itemsize))
    hashes = np.empty(int(numbers.max(initial=-1)) + 1, PERSON)
    hashes[numbers] = persons
    return numbers, hashes


def among(persons: Persons, some: Persons) -> NDArray[np.bool_]:
    """Returns (k,) which of the persons are in `some`."""
    is_member = np.isin(persons["person"], some["person"])
    members = set(some.tolist())
    for at in np.flatnonzero(is_member).tolist():
        is_member[at] = persons[at].item() in members
    return is_member


def from_rows(rows: Iterable[tuple[int, int]]) -> Persons:
    """Reads rows of the two columns."""
    return np.array(list(rows), PERSON)


def _numbers(values: NDArray[Any], kind: pa.DataType) -> Integers:
    # By a table of hashes, in half the time that sorting takes.
    array = pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])
    numbers: Integers = array.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers
