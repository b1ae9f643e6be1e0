"""Somebody with the database in hand, past Django and past the triggers: `verify-ledger` names the row."""

import sqlite3
from contextlib import closing

import psycopg
import pytest

from tests.services.programs import SQLITE_FIRST

UNGUARD = {
    "sqlite": "; ".join(
        f"DROP TRIGGER event_{name}" for name in ("refuses_update", "refuses_delete", "follows", "entered")
    ),
    "postgresql": "ALTER TABLE heatmaps_event DISABLE TRIGGER USER",
}
OF = "dataset_id = (SELECT id FROM heatmaps_dataset WHERE slug = '{slug}')"
COLUMNS = "dataset_id, sequence, at_microseconds, actor_id, kind, release, before, after, previous_hash, hash"
COPIES = f"SELECT {COLUMNS.replace('sequence', 'sequence + 1')} FROM heatmaps_event"
TAMPER = {
    "honest": [],
    "edited": [
        f"UPDATE heatmaps_event SET at_microseconds = at_microseconds + 1 WHERE sequence = 3 AND {OF}"
    ],
    "removed": [f"DELETE FROM heatmaps_event WHERE sequence = 4 AND {OF}"],
    "cut": [f"DELETE FROM heatmaps_event WHERE sequence = 5 AND {OF}"],
    "reordered": [
        f"UPDATE heatmaps_event SET sequence = sequence + 100 WHERE sequence = 3 AND {OF}",
        f"UPDATE heatmaps_event SET sequence = 3 WHERE sequence = 4 AND {OF}",
        f"UPDATE heatmaps_event SET sequence = 4 WHERE sequence = 103 AND {OF}",
    ],
    "inserted": [f"INSERT INTO heatmaps_event ({COLUMNS}) {COPIES} WHERE sequence = 5 AND {OF}"],
    "refunded": [f"UPDATE heatmaps_account SET committed = 0 WHERE kind = 'presence' AND {OF}"],
}
FOUND = {
    "honest": "ok, 5 events",
    "edited": "BAD, event 3: the event was changed after it was written",
    "removed": "BAD, event 4: the event is missing or out of order",
    "cut": "BAD, event 5: the last events are missing, or the ledger's head was changed",
    "reordered": "BAD, event 3: the event does not follow from the one before it",
    "inserted": "BAD, event 6: the event does not follow from the one before it",
    "refunded": "BAD, account presence: its limit or balance is not what the events add up to",
}


def connected(installation, vendor):
    if vendor == "sqlite":
        return sqlite3.connect(installation.folder / "hazemap.sqlite3", isolation_level=None)
    return psycopg.connect(installation.database_url, autocommit=True)


@pytest.mark.parametrize("vendor", SQLITE_FIRST, indirect=True)
def test_it_names_what_was_done_to_the_database_itself(installation, vendor):
    installation.script("killing", "queue", 3, *TAMPER)
    with closing(connected(installation, vendor)) as database:
        with pytest.raises(
            (sqlite3.IntegrityError, psycopg.IntegrityError), match="never changed or deleted"
        ):
            database.execute("UPDATE heatmaps_event SET kind = 'x'")
        for statement in UNGUARD[vendor].split(";"):
            database.execute(statement)
        for slug, statements in TAMPER.items():
            for statement in statements:
                database.execute(statement.format(slug=slug))
    told = installation.manage("verify-ledger", check=False)
    assert told.returncode == 1
    assert dict(line.split(": ", 1) for line in told.stdout.splitlines()) == FOUND
