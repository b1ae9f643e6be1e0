"""Packs check-ins: columns of one slot of one upload, as bytes and back, and those of them that count."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple, Self
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import ArrayLike, NDArray

from heatmaps.data_slice import DataSlice
from heatmaps.models import DataVersion, PackedCheckIns, Suppression
from heatmaps.pseudonyms.person_hashes import Persons, among, from_rows, numbered, persons_of
from mechanisms.records.row_key import NO_TIME

__all__ = ["NO_TIME", "PackedSlot", "Piece", "packed", "read"]

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]

_INTEGER: Final = "<i8"
_LENGTH: Final = "<u4"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Piece:
    """Holds check-ins of the persons of one slot, of one upload."""

    persons: Persons  # (k,) hashes, each once
    lengths: Column  # (k,) check-ins of each, above 0
    cells: Column  # (m,) at the finest level, ordered by person and then by themselves
    times: Column | None  # (m,) epoch seconds or `NO_TIME`; None: not read

    @property
    def person_of_each(self) -> Persons:
        """Returns hashes, (m,)."""
        return np.repeat(self.persons, self.lengths)

    def of(self, persons: Mask) -> Self:
        """Returns the check-ins of some of the persons, (k,)."""
        if persons.all():
            return self
        return self._part(persons, self.lengths[persons], np.repeat(persons, self.lengths))

    def only(self, checkins: Mask) -> Self:
        """Returns some of the check-ins, (m,), and the persons who have any of them."""
        if checkins.all():
            return self
        left = np.add.reduceat(checkins, np.cumsum(self.lengths) - self.lengths, dtype=np.int64)
        persons = left > 0
        return self._part(persons, left[persons], checkins)

    def _part(self, persons: Mask, lengths: Column, checkins: Mask) -> Self:
        times = None if self.times is None else self.times[checkins]
        return replace(
            self, persons=self.persons[persons], lengths=lengths, cells=self.cells[checkins], times=times
        )


class PackedSlot(NamedTuple):
    """Holds all that is packed of the persons of one slot, and counts."""

    uploads: set[UUID]  # that are packed: of each slot the same ones
    pieces: list[Piece]


def packed(person: Persons, cell: Column, time: Column, outside: Mask) -> dict[str, bytes]:
    """Returns the columns of a slot, from one row per check-in in any order, (m,)."""
    number, persons = numbered(person)
    order = np.lexsort((cell, number))
    return {
        "persons": _bytes_of_persons(persons),
        "lengths": _bytes(np.bincount(number), _LENGTH),
        "cells": _bytes(cell[order], _INTEGER),
        "times": _bytes(time[order], _INTEGER),
        "outside": outside[order].tobytes() if outside.any() else b"",
    }


def read(
    version: DataVersion,
    uploads: Collection[UUID],
    data_slice: DataSlice,
    *,
    with_outside: bool,
    with_times: bool = False,
) -> Iterator[PackedSlot]:
    """Yields slot by slot what counts of those of the uploads that are packed; of the others nothing.

    In the caller's transaction. One statement, so that an upload is read whole or not at all, of which the
    server sends one slot of one upload at a time: memory is that of a slot. The rectangle is not
    looked at. with_times: pieces have their times, too.
    """
    opted_out = from_rows(Suppression.in_effect(version).values_list("person", "person_rest"))
    rows = _rows(uploads, times=with_times or data_slice.has_period, outside=not with_outside)
    for _, of_slot in groupby(rows, key=lambda row: row.slot):
        slot = PackedSlot(set(), [])
        for row in of_slot:
            slot.uploads.add(row.upload)
            slot.pieces.append(_counting(row, data_slice, opted_out, with_times=with_times))
        yield slot


class _Row(NamedTuple):
    upload: UUID
    slot: int
    persons: bytes
    lengths: bytes
    cells: bytes
    times: bytes
    outside: bytes


_TABLE: Final = PackedCheckIns._meta.db_table


def _rows(uploads: Collection[UUID], *, times: bool, outside: bool) -> Iterator[_Row]:
    if not uploads:
        return
    optional = ", ".join(
        column if is_read else "''::bytea" for column, is_read in (("times", times), ("outside", outside))
    )
    select = (
        f"SELECT upload_id, slot, persons, lengths, cells, {optional} FROM {_TABLE} "  # noqa: S608  # constants
        "WHERE upload_id = ANY(%s) ORDER BY slot"
    )
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, where Django's would read twice as many hexadecimal digits.
    with (
        connection.wrap_database_errors,
        psycopg.ServerCursor(connection.connection, "packed_checkins") as cursor,
    ):
        cursor.itersize = 1  # row in memory at once
        yield from map(_Row._make, cursor.execute(select, (list(uploads),), binary=True))


def _counting(row: _Row, data_slice: DataSlice, opted_out: Persons, *, with_times: bool) -> Piece:
    times = _column(row.times, _INTEGER)
    piece = Piece(
        persons=_persons(row.persons, len(row.lengths) // np.dtype(_LENGTH).itemsize),
        lengths=_column(row.lengths, _LENGTH),
        cells=_column(row.cells, _INTEGER),
        times=times if with_times else None,
    )
    counting = _in_period(times, data_slice) if data_slice.has_period else None
    if row.outside:
        inside = ~np.frombuffer(row.outside, np.bool_)
        counting = inside if counting is None else counting & inside
    if counting is not None:
        piece = piece.only(counting)
    if opted_out.size:
        piece = piece.of(~among(piece.persons, opted_out))
    return piece


def _in_period(times: Column, data_slice: DataSlice) -> Mask:
    in_period: Mask = times != NO_TIME
    if data_slice.since is not None:
        in_period &= times >= data_slice.since
    if data_slice.until is not None:
        in_period &= times < data_slice.until
    return in_period


def _bytes(values: ArrayLike, kind: str) -> bytes:
    return np.asarray(values).astype(kind, copy=False).tobytes()


def _bytes_of_persons(persons: Persons) -> bytes:
    """Returns the first integers, then the others unless all are 0."""
    first, rest = persons["person"], persons["person_rest"]
    return _bytes(first, _INTEGER) + (_bytes(rest, _INTEGER) if rest.any() else b"")


def _persons(content: bytes, count: int) -> Persons:
    columns = _column(content, _INTEGER)
    return persons_of(columns[:count], columns[count:] if columns.size > count else np.zeros(count, np.int64))


def _column(content: bytes, kind: str) -> Column:
    return np.frombuffer(content, kind).astype(np.int64, copy=False)
