"""Hashes and appends the events of a chain."""

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError

from heatmaps.ledger.errors import LedgerDamaged
from heatmaps.models import Dataset, Event, Ledger

Facts: TypeAlias = Mapping[str, "int | str | Facts"]

SYSTEM: Final = "system"  # stands for the actor where no person acted
NO_RELEASE: Final = ""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def canonical(facts: Facts) -> str:
    """Writes one text for equal facts: JSON with sorted keys, no blanks, ASCII, integers and strings only.

    Errors: TypeError for anything else (floats and nulls have more than one spelling elsewhere).
    """
    _check(facts)
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def genesis(dataset_id: int) -> str:
    """Returns the hash before a dataset's first event, so that chains of two datasets cannot be exchanged."""
    return _sha256(canonical({"dataset": dataset_id}))


def event_hash(event: Event) -> str:
    """Returns the SHA-256 over everything an event says, its salt and the hash of the event before it."""
    return _sha256(canonical(hashed(event)))


def hashed(event: Event) -> dict[str, int | str]:
    """Returns the facts that an event's hash covers; for stewards only, as its exact moment and its salt are.

    Events from before there were salts have none: whoever sees their hash could search their moment.
    """
    salt = {} if event.salt is None else {"salt": event.salt}
    return salt | {
        "dataset": event.dataset_id,
        "sequence": event.sequence,
        "at_microseconds": event.at_microseconds,
        "actor": SYSTEM if event.actor_id is None else event.actor_id,
        "kind": event.kind,
        "release": NO_RELEASE if event.release is None else str(event.release),
        "before": event.before,
        "after": event.after,
        "previous_hash": event.previous_hash,
    }


def new_salt() -> str:
    """Returns 128 random bits, in hexadecimal digits."""
    return secrets.token_hex(16)


def microseconds(moment: datetime) -> int:
    """Returns microseconds since 1970, as events tell moments."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def append(
    ledger: Ledger,
    kind: str,
    *,
    actor: User | None,
    release: UUID | None,
    before: Facts,
    after: Facts,
    at: datetime | None = None,
) -> Event:
    """Writes the next event; the database checks it and moves the ledger's head. The caller holds the lock of
    the ledger's row.

    `at`: the public moment it is stamped with, whenever it is written; None: now.
    Errors: LedgerDamaged where the chain does not end at its head, or the database does not move it.
    """
    event = Event(
        dataset_id=ledger.dataset_id,
        sequence=ledger.last_sequence + 1,
        at_microseconds=time.time_ns() // 1000 if at is None else microseconds(at),
        actor=actor,
        kind=kind,
        release=release,
        before=canonical(before),
        after=canonical(after),
        previous_hash=ledger.last_hash,
        salt=new_salt(),
    )
    event.hash = event_hash(event)
    try:
        event.save(force_insert=True)
    except IntegrityError:
        raise LedgerDamaged from None  # what the database says of it names the row
    ledger.refresh_from_db(fields=["last_sequence", "last_hash"])
    if (ledger.last_sequence, ledger.last_hash) != (event.sequence, event.hash):
        raise LedgerDamaged
    return event


def new_ledger(dataset: Dataset) -> Ledger:
    """Makes the row that heads a dataset's chain, before its first event."""
    return Ledger.objects.create(dataset=dataset, last_sequence=0, last_hash=genesis(dataset.pk))


def _check(value: object) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError("the keys of an event's facts are strings")
            _check(inner)
    elif isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"an event holds integers, strings and mappings of them, not {type(value).__name__}")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
