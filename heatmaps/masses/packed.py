"""Packed check-ins: columns of one slot of one upload, as bytes and back, and those of them that count."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Self
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

    slot: int
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
) -> tuple[set[UUID], list[Piece]]:
    """Which of the uploads are packed, and what counts of them, ordered by slot; of the others nothing.

    One statement, so that an upload is read whole or not at all. The part of the region is not looked at.
    """
    opted_out = np.array(Suppression.in_effect(version).values_list("person", flat=True), np.int64)
    rows = _rows(uploads, _slots(share), times=asked.has_period, outside=not with_outside)
    pieces = []
    for _, slot, persons, lengths, cells, times, outside in rows:
        piece = Piece(
            slot=slot,
            persons=_column(persons, _INTEGER),
            lengths=_column(lengths, _LENGTH),
            cells=_column(cells, _INTEGER),
        )
        counting = _in_period(_column(times, _INTEGER), asked) if asked.has_period else None
        if outside:
            inside = ~np.frombuffer(outside, np.bool_)
            counting = inside if counting is None else counting & inside
        if counting is not None:
            piece = piece.only(counting)
        if opted_out.size:
            piece = piece.of(~np.isin(piece.persons, opted_out))
        if share.of > SLOTS:
            piece = piece.of(piece.persons % share.of == share.number)
        pieces.append(piece)
    return {row[0] for row in rows}, pieces


_Row = tuple[UUID, int, bytes, bytes, bytes, bytes, bytes]
_TABLE: Final = PackedCheckIns._meta.db_table


def _rows(uploads: Collection[UUID], slots: list[int], *, times: bool, outside: bool) -> list[_Row]:
    if not uploads:
        return []
    asked = ", ".join(
        column if wanted else "''::bytea" for column, wanted in (("times", times), ("outside", outside))
    )
    select = (
        f"SELECT upload_id, slot, persons, lengths, cells, {asked} FROM {_TABLE} "  # noqa: S608  # constants
        "WHERE upload_id = ANY(%s) AND slot = ANY(%s) ORDER BY slot"
    )
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, where Django's would read twice as many hexadecimal digits.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(select, (list(uploads), slots), binary=True).fetchall()


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
