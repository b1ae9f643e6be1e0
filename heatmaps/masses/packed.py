"""Packed check-ins: columns of one slot of one upload, as bytes and back, and those of them that count."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple, Self
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import ArrayLike, NDArray

from heatmaps.masses.selection import Share
from heatmaps.models import DataVersion, PackedCheckIns, Suppression
from heatmaps.models.packed import SLOTS
from heatmaps.slices import Slice

Column = NDArray[np.int64]
Chosen = NDArray[np.bool_]

NO_TIME: Final = -(2**63)  # of a check-in without a time

_INTEGER: Final = "<i8"
_LENGTH: Final = "<u4"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Piece:
    """Check-ins of the persons of one slot, of one upload."""

    persons: Column  # (k,) hashes, each once
    lengths: Column  # (k,) check-ins of each, above 0
    cells: Column  # (m,) at the finest level, ordered by person and then by themselves

    @property
    def person_of_each(self) -> Column:
        """(m,) hashes."""
        return np.repeat(self.persons, self.lengths)

    def of(self, persons: Chosen) -> Self:
        """The check-ins of some of the persons, (k,)."""
        if persons.all():
            return self
        cells = self.cells[np.repeat(persons, self.lengths)]
        return replace(self, persons=self.persons[persons], lengths=self.lengths[persons], cells=cells)

    def only(self, checkins: Chosen) -> Self:
        """Some of the check-ins, (m,), and the persons who have any of them."""
        if checkins.all():
            return self
        left = np.add.reduceat(checkins, np.cumsum(self.lengths) - self.lengths, dtype=np.int64)
        kept = left > 0
        return replace(self, persons=self.persons[kept], lengths=left[kept], cells=self.cells[checkins])


class Slot(NamedTuple):
    """All that is packed of the persons of one slot, and counts."""

    number: int
    uploads: set[UUID]  # that are packed: of each slot the same ones
    pieces: list[Piece]


def packed(person: Column, cell: Column, time: Column, outside: Chosen) -> dict[str, bytes]:
    """Columns of a slot, from one row per check-in in any order, (m,)."""
    order = np.lexsort((cell, person))
    persons, lengths = np.unique(person, return_counts=True)
    return {
        "persons": _bytes(persons, _INTEGER),
        "lengths": _bytes(lengths, _LENGTH),
        "cells": _bytes(cell[order], _INTEGER),
        "times": _bytes(time[order], _INTEGER),
        "outside": outside[order].tobytes() if outside.any() else b"",
    }


def read(
    version: DataVersion, uploads: Collection[UUID], asked: Slice, share: Share, *, with_outside: bool
) -> Iterator[Slot]:
    """Slot by slot, what counts of those of the uploads that are packed; of the others nothing.

    In the caller's transaction. One statement, so that an upload is read whole or not at all, of which the
    server sends one slot of one upload at a time: memory is that of a slot. The part of the region is not
    looked at.
    """
    opted_out = np.array(Suppression.in_effect(version).values_list("person", flat=True), np.int64)
    rows = _rows(uploads, _slots(share), times=asked.has_period, outside=not with_outside)
    for slot, of_slot in groupby(rows, key=lambda row: row.slot):
        found = Slot(slot, set(), [])
        for row in of_slot:
            found.uploads.add(row.upload)
            found.pieces.append(_counting(row, asked, opted_out, share))
        yield found


class _Row(NamedTuple):
    upload: UUID
    slot: int
    persons: bytes
    lengths: bytes
    cells: bytes
    times: bytes
    outside: bytes


_TABLE: Final = PackedCheckIns._meta.db_table


def _rows(uploads: Collection[UUID], slots: list[int], *, times: bool, outside: bool) -> Iterator[_Row]:
    if not uploads:
        return
    asked = ", ".join(
        column if wanted else "''::bytea" for column, wanted in (("times", times), ("outside", outside))
    )
    select = (
        f"SELECT upload_id, slot, persons, lengths, cells, {asked} FROM {_TABLE} "  # noqa: S608  # constants
        "WHERE upload_id = ANY(%s) AND slot = ANY(%s) ORDER BY slot"
    )
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, where Django's would read twice as many hexadecimal digits.
    with (
        connection.wrap_database_errors,
        psycopg.ServerCursor(connection.connection, "packed_checkins") as cursor,
    ):
        cursor.itersize = 1  # row in memory at once
        yield from map(_Row._make, cursor.execute(select, (list(uploads), slots), binary=True))


def _counting(row: _Row, asked: Slice, opted_out: Column, share: Share) -> Piece:
    piece = Piece(
        persons=_column(row.persons, _INTEGER),
        lengths=_column(row.lengths, _LENGTH),
        cells=_column(row.cells, _INTEGER),
    )
    counting = _in_period(_column(row.times, _INTEGER), asked) if asked.has_period else None
    if row.outside:
        inside = ~np.frombuffer(row.outside, np.bool_)
        counting = inside if counting is None else counting & inside
    if counting is not None:
        piece = piece.only(counting)
    if opted_out.size:
        piece = piece.of(~np.isin(piece.persons, opted_out))
    if share.of > SLOTS:
        piece = piece.of(piece.persons % share.of == share.number)
    return piece


def _slots(share: Share) -> list[int]:
    """Those that hold the persons of a share."""
    if share.of > SLOTS:
        return [share.number % SLOTS]
    return list(range(share.number, SLOTS, share.of))


def _in_period(times: Column, asked: Slice) -> Chosen:
    found: Chosen = times != NO_TIME
    if asked.since is not None:
        found &= times >= asked.since
    if asked.until is not None:
        found &= times < asked.until
    return found


def _bytes(values: ArrayLike, kind: str) -> bytes:
    return np.asarray(values).astype(kind, copy=False).tobytes()


def _column(content: bytes, kind: str) -> Column:
    return np.frombuffer(content, kind).astype(np.int64, copy=False)
