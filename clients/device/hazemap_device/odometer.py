"""Counts what a person's reports cost, before anything is drawn, and keeps packets until their receipt.

What is kept: which rounds, what each report costs, sealed packets that are still to be sent with the
invitation that goes along. Never: places, random numbers, what a packet says.
"""

import hashlib
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hazemap_device.errors import DeviceError
from hazemap_device.facts import Facts

_SCHEMA: Final = """
BEGIN;
CREATE TABLE IF NOT EXISTS reports (
    id INTEGER PRIMARY KEY, collection TEXT NOT NULL, round TEXT NOT NULL, number INTEGER NOT NULL,
    facts_sha256 TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, radius_m TEXT NOT NULL,
    record_epsilon TEXT NOT NULL, closes_at INTEGER NOT NULL, slot INTEGER,
    is_sealed INTEGER NOT NULL DEFAULT 0, packet BLOB, address TEXT, invitation TEXT,
    receipt TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX IF NOT EXISTS one_packet_a_slot ON reports (round, slot) WHERE is_sealed;
CREATE TABLE IF NOT EXISTS invitations (
    round TEXT PRIMARY KEY, secret TEXT NOT NULL, closes_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS used_invitations (sha256 TEXT PRIMARY KEY, closes_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS left_collections (collection TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS mark (identity TEXT NOT NULL, complete_since INTEGER NOT NULL);
COMMIT;
"""
_WAIT_S: Final = 60.0  # for another process that is about to send


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Holds a sealed packet without a receipt, and where it goes."""

    id: int
    address: str
    packet: bytes = field(repr=False)
    invitation: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Holds a report as it was counted."""

    collection: str
    round: str
    number: int
    epsilon: str
    delta: str
    radius_m: str
    record_epsilon: str
    state: str  # "received", "pending", "dropped", or "lost": counted, then never sealed


class Odometer:
    """Counts the reports of one device in a file that its owner alone reads.
    Every change is on the disk before it returns.

    A folder that is a copy (restored, or of another device) may lack reports: it counts for no round that had
    opened before it was found to be one. A snapshot of the disk, or this file alone put back, is not seen.
    """

    def __init__(self, state_dir: Path, *, clock: Callable[[], float] = time.time) -> None:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = state_dir / "odometer.sqlite"
        for path in (self._path, state_dir / "lock.sqlite"):
            # Made before SQLite opens it: its journals get the same mode.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
        with self._database() as database:
            database.executescript(_SCHEMA)
        with self._database() as database:
            # A copy has another inode or another moment of change, which no program can set.
            status = _mark(state_dir / "mark")
            identity = f"{status.st_ino} {status.st_ctime_ns}"
            database.execute(
                "INSERT INTO mark SELECT ?, 0 WHERE NOT EXISTS (SELECT * FROM mark)", (identity,)
            )
            database.execute(
                "UPDATE mark SET identity = ?, complete_since = ? WHERE identity != ?",
                (identity, math.ceil(clock()), identity),
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes of this device from reporting. It ends with the process at the latest."""
        with closing(sqlite3.connect(self._path.with_name("lock.sqlite"), timeout=_WAIT_S)) as lock:
            lock.isolation_level = None
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                raise DeviceError("busy", "Another report is on its way. Try again in a minute.") from None
            yield

    def count(self, facts: Facts, *, slot: int | None, invitation: str) -> int:
        """Counts a report that is about to be drawn. Errors: `DeviceError` where none may be drawn."""
        with self._database() as database:
            self._check(database, facts, slot, invitation)
            loss = facts.loss
            cursor = database.execute(
                "INSERT INTO reports (collection, round, number, facts_sha256, epsilon, delta, radius_m,"
                " record_epsilon, closes_at, slot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (facts.collection, facts.round, facts.number, facts.sha256.hex(), loss.epsilon, loss.delta,
                 loss.radius_m, loss.record_epsilon, facts.closes_at, slot),
            )  # fmt: skip
            return cursor.lastrowid or 0

    def keep(self, report: int, *, packet: bytes, address: str, invitation: str) -> Pending:
        """Keeps a sealed packet, which is sent from here on and never drawn again.

        Its invitation is used up, taken or not: who refuses a packet may keep it.
        """
        with self._database() as database:
            database.execute(
                "INSERT INTO used_invitations SELECT ?, closes_at FROM reports WHERE id = ?",
                (_sha256(invitation), report),
            )
            database.execute("DELETE FROM invitations WHERE secret = ?", (invitation,))
            database.execute(
                "UPDATE reports SET is_sealed = 1, packet = ?, address = ?, invitation = ? WHERE id = ?",
                (packet, address, invitation, report),
            )
        return Pending(id=report, address=address, packet=packet, invitation=invitation)

    def close(self, report: int, *, receipt: str) -> None:
        """Deletes a packet that has its receipt, or an empty one where it was refused for good."""
        with self._database() as database:
            database.execute(
                "UPDATE reports SET packet = NULL, address = NULL, invitation = NULL, receipt = ?"
                " WHERE id = ?",
                (receipt, report),
            )

    def pending(self, round_id: str) -> list[Pending]:
        """Returns packets of a round that are to be sent (again), oldest first."""
        with self._database() as database:
            rows = database.execute(
                "SELECT id, address, packet, invitation FROM reports WHERE round = ? AND packet IS NOT NULL"
                " ORDER BY id",
                (round_id,),
            ).fetchall()
        return [Pending(id=row[0], address=row[1], packet=bytes(row[2]), invitation=row[3]) for row in rows]

    def reports(self) -> list[Counted]:
        """Returns all reports ever counted, oldest first."""
        state = (
            "CASE WHEN receipt != '' THEN 'received' WHEN packet IS NOT NULL THEN 'pending'"
            " WHEN is_sealed THEN 'dropped' ELSE 'lost' END"
        )
        columns = "collection, round, number, epsilon, delta, radius_m, record_epsilon"
        with self._database() as database:
            rows = database.execute(f"SELECT {columns}, {state} FROM reports ORDER BY id").fetchall()  # noqa: S608
        names = Counted.__slots__
        return [Counted(**dict(zip(names, row, strict=True))) for row in rows]

    def complete_since(self) -> int:
        """Returns from when on no report is missing, in seconds since 1970; 0: none ever was."""
        with self._database() as database:
            (moment,) = database.execute("SELECT complete_since FROM mark").fetchone()
        return int(moment)

    def invitation(self, round_id: str) -> str | None:
        """Returns the invitation that this device was given for an open link, and has not used."""
        with self._database() as database:
            row = database.execute("SELECT secret FROM invitations WHERE round = ?", (round_id,)).fetchone()
        return row[0] if row else None

    def keep_invitation(self, facts: Facts, secret: str) -> None:
        with self._database() as database:
            database.execute(
                "INSERT OR REPLACE INTO invitations VALUES (?, ?, ?)", (facts.round, secret, facts.closes_at)
            )

    def leave(self, collection: str) -> None:
        """Takes part in no further round of a collection, and drops what was not sent."""
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO left_collections VALUES (?)", (collection,))
            database.execute(
                "UPDATE reports SET packet = NULL, address = NULL, invitation = NULL WHERE collection = ?",
                (collection,),
            )

    def rejoin(self, collection: str) -> None:
        with self._database() as database:
            database.execute("DELETE FROM left_collections WHERE collection = ?", (collection,))

    def forget_closed(self, now: float) -> None:
        """Deletes packets and invitations of rounds that have closed: nobody takes them any more."""
        with self._database() as database:
            database.execute(
                "UPDATE reports SET packet = NULL, address = NULL, invitation = NULL WHERE closes_at <= ?",
                (now,),
            )
            database.execute("DELETE FROM invitations WHERE closes_at <= ?", (now,))
            database.execute("DELETE FROM used_invitations WHERE closes_at <= ?", (now,))

    def check(self, facts: Facts, *, slot: int | None, invitation: str | None) -> None:
        """Raises `DeviceError` where no further report of this round or slot, or by this invitation, may be
        drawn."""
        with self._database() as database:
            self._check(database, facts, slot, invitation)

    def _check(
        self, database: sqlite3.Connection, facts: Facts, slot: int | None, invitation: str | None
    ) -> None:
        if database.execute(
            "SELECT 1 FROM left_collections WHERE collection = ?", (facts.collection,)
        ).fetchone():
            raise DeviceError(
                "left", "You left this collection. Join it again with: leave --undo COLLECTION."
            )
        if database.execute("SELECT 1 FROM mark WHERE complete_since > ?", (facts.opens_at,)).fetchone():
            raise DeviceError(
                "older_record",
                "What this device has sent is known from an older copy only. It takes part in rounds that "
                "open from now on.",
            )
        reports = database.execute(
            "SELECT facts_sha256, is_sealed, slot FROM reports WHERE round = ?", (facts.round,)
        ).fetchall()
        if any(row[0] != facts.sha256.hex() for row in reports):
            raise DeviceError(
                "facts_changed",
                "The round's facts changed since your last report. Do not take part, and tell them.",
            )
        # A report that was lost before it was sealed has cost what it cost, and nobody has seen it.
        sealed = [row[2] for row in reports if row[1]]
        if slot is not None and slot in sealed:
            raise DeviceError("slot_sent", "This slot has its report already.")
        if len(sealed) >= facts.reports_per_person:
            raise DeviceError("all_sent", "You sent all reports that this round takes from one person.")

        used = "SELECT 1 FROM used_invitations WHERE sha256 = ?"
        if invitation is not None and database.execute(used, (_sha256(invitation),)).fetchone():
            raise DeviceError(
                "invitation_used",
                "This device sent a report by this invitation. Use another one for the next.",
            )

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Opens one transaction, on the disk when it ends."""
        with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as database:
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("PRAGMA secure_delete = ON")
            with database:
                yield database


def _mark(path: Path) -> os.stat_result:
    """Makes an empty file, if there is none, and touches it never again."""
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o600))
    return path.stat()


def _sha256(invitation: str) -> str:
    return hashlib.sha256(invitation.encode()).hexdigest()
