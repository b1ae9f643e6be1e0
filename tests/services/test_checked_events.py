"""Web and workers on PostgreSQL write events, and nobody writes one that does not belong at its place."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.types.json import Jsonb

from heatmaps.ledger.events import canonical, event_hash, genesis, new_salt
from heatmaps.models import Event
from tests.services.installation import Installation
from tests.services.roles import OWNER, WEB, WORKER, signed_in

pytestmark = [pytest.mark.postgres]

COLUMNS = (
    *("dataset_id", "sequence", "at_microseconds", "actor_id", "kind", "release", "before", "after"),
    *("previous_hash", "hash", "salt"),
)
INSERT = f"INSERT INTO heatmaps_event ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))})"
HARMLESS = "resumed"  # a kind that moves nothing
OTHERS = {
    WEB: ("spend", "publish", "fail", "lose", "late", "postpone", "close", "restored"),
    WORKER: ("open", "reserve", "limit", "allowance", "publication", "embedding", "member", "close"),
}


@pytest.fixture(scope="module")
def city(granted):
    """The installation of the roles with three datasets of five events each, and its database's name."""
    made, name = granted
    made.python("-m", "tests.services.killing", "queue", 3, "first", "second", "raced")
    return made, name


def number_of(connection, slug):
    return connection.execute("SELECT id FROM heatmaps_dataset WHERE slug = %s", [slug]).fetchone()[0]


def head_of(connection, dataset):
    query = "SELECT last_sequence, last_hash FROM heatmaps_ledger WHERE dataset_id = %s"
    return connection.execute(query, [dataset]).fetchone()


def next_event(connection, dataset, **changed):
    """What would follow, with a hash that fits unless another one is given."""
    sequence, last_hash = head_of(connection, dataset)
    facts = {"kind": HARMLESS, "before": "{}", "after": "{}", "salt": new_salt(), "previous_hash": last_hash}
    facts |= {"dataset_id": dataset, "sequence": sequence + 1, "at_microseconds": time.time_ns() // 1000}
    event = Event(**(facts | changed))
    if "hash" not in changed:
        event.hash = event_hash(event)
    return event


def insert(connection, event, statement=INSERT):
    connection.execute(statement, [getattr(event, name) for name in COLUMNS])


def is_refused(connection, event):
    try:
        insert(connection, event)
    except (psycopg.IntegrityError, psycopg.DataError):
        return True
    return False


def poisoned(connection, dataset, other):
    """One event for each way to end a chain, by what is wrong with it."""
    sequence, _ = head_of(connection, dataset)
    changes = {
        "hash": {"hash": "0" * 64},
        "hash of another text": {"hash": event_hash(next_event(connection, dataset))},
        "sequence before": {"sequence": sequence},
        "sequence ahead": {"sequence": sequence + 2},
        "previous hash": {"previous_hash": genesis(dataset)},
        "no salt": {"salt": None},
        "facts that cannot be read": {"after": '{"a":'},
        "facts that are none": {"after": "[]"},
        "facts beyond ASCII": {"after": '{"a":"ä"}'},
        "a moment that no page can show": {"at_microseconds": 2**62},
        "a moment before 1970": {"at_microseconds": -1},
        "no dataset": {"dataset_id": 10**9},
        "the head of another dataset": {"previous_hash": head_of(connection, other)[1]},
        "a kind that is no word": {"kind": "a b"},
    }
    return {name: next_event(connection, dataset, **changed) for name, changed in changes.items()}


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_a_poisoned_event_is_refused_and_the_dataset_goes_on(postgres, city, role):
    with signed_in(postgres, city[1], role) as connection:
        dataset, other = (number_of(connection, slug) for slug in ("first", "second"))
        before = head_of(connection, dataset), head_of(connection, other)
        for name, event in poisoned(connection, dataset, other).items():
            assert is_refused(connection, event), name
        assert (head_of(connection, dataset), head_of(connection, other)) == before
        event = next_event(connection, dataset)
        insert(connection, event)
        assert head_of(connection, dataset) == (event.sequence, event.hash)
        assert is_refused(connection, event)  # the same once more


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_no_role_writes_acts_of_another(postgres, city, role):
    """A worker acts for nobody, web tells no outcome, and neither closes a ledger."""
    with signed_in(postgres, city[1], role) as connection:
        dataset = number_of(connection, "first")
        for kind in OTHERS[role]:
            with pytest.raises(psycopg.IntegrityError, match="this role writes no such events"):
                insert(connection, next_event(connection, dataset, kind=kind))


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_no_role_moves_a_head_itself(postgres, city, role):
    denied, conflict = psycopg.errors.InsufficientPrivilege, psycopg.IntegrityError
    with signed_in(postgres, city[1], role) as connection:
        dataset, other = (number_of(connection, slug) for slug in ("first", "second"))
        before = head_of(connection, dataset)
        for statement, refusal in {
            "UPDATE heatmaps_ledger SET last_sequence = 0": denied,
            "UPDATE heatmaps_ledger SET last_hash = ''": denied,
            "UPDATE heatmaps_ledger SET closed_sequence = 1": denied,
            "DELETE FROM heatmaps_ledger": denied,
            "UPDATE heatmaps_publication SET is_public = true": denied,
            "INSERT INTO heatmaps_publication SELECT id, 1, true FROM heatmaps_release": denied,
            f"UPDATE heatmaps_ledger SET dataset_id = 10000 WHERE dataset_id = {other}": conflict,
        }.items():
            with pytest.raises(refusal):
                connection.execute(statement)
        # A row that is checked and then not inserted moves nothing.
        numbered = INSERT.replace("(dataset_id", "(id, dataset_id").replace("VALUES (", "VALUES (1, ")
        assert connection.execute("SELECT 1 FROM heatmaps_event WHERE id = 1").fetchone()
        insert(connection, next_event(connection, dataset), f"{numbered} ON CONFLICT DO NOTHING")
        # Nor does a trigger on a table of one's own, where an operator lets a role make some.
        with pytest.raises(denied):
            connection.execute("CREATE TEMP TABLE mine (id int)")
        with temporary_tables(postgres, city[1], role):
            connection.execute("CREATE TEMP TABLE mine AS SELECT * FROM heatmaps_event LIMIT 0")
        for when, function in (("BEFORE", "follows"), ("AFTER", "entered")):
            with pytest.raises(denied):
                connection.execute(
                    f"CREATE TRIGGER t {when} INSERT ON mine FOR EACH ROW "
                    f"EXECUTE FUNCTION heatmaps_event_{function}()"
                )
        # Functions of one's own stand behind those of PostgreSQL, whatever the path says.
        connection.execute("SET search_path = pg_temp, public")
        connection.execute("SET standard_conforming_strings = off")
        with pytest.raises(psycopg.IntegrityError):
            insert(connection, next_event(connection, dataset, hash="0" * 64))
        assert head_of(connection, dataset) == before


@contextmanager
def temporary_tables(postgres, name, role):
    right = f"TEMPORARY ON DATABASE {name}"
    with signed_in(postgres, name, OWNER) as owner:
        owner.execute(f"GRANT {right} TO {role}")
        try:
            yield
        finally:
            owner.execute(f"REVOKE {right} FROM {role}")


def test_a_new_ledger_begins_without_events(postgres, city):
    with signed_in(postgres, city[1], OWNER) as owner, signed_in(postgres, city[1], WEB) as web:
        owner.autocommit = web.autocommit = False
        dataset = number_of(web, "second")
        owner.execute("DELETE FROM heatmaps_ledger WHERE dataset_id = %s", [dataset])
        statement = "INSERT INTO heatmaps_ledger (dataset_id, last_sequence, last_hash) VALUES (%s, %s, %s)"
        for sequence, last_hash in ((7, genesis(dataset)), (0, "0" * 64), (0, genesis(dataset + 1))):
            with pytest.raises(psycopg.IntegrityError, match="begins without events"), owner.transaction():
                owner.execute(statement, [dataset, sequence, last_hash])
        owner.execute(statement, [dataset, 0, genesis(dataset)])
        owner.rollback()


def test_the_database_hashes_as_python_does(postgres, city):
    """Events of any facts, 2,000 of them."""
    chance = random.Random(32)
    letters = ['"', "\\", "/", "\n", "\0", "\x7f", "\u2028", "ä", "𝄞", "\ud800", "{", "u00", "'", "$$", "%"]

    def text():
        return "".join(chance.choice(letters) for _ in range(chance.randrange(9)))

    def facts(depth=0):
        inner = [text, lambda: chance.randrange(-(2**63), 2**63)] + ([lambda: facts(depth + 1)] * (depth < 3))
        return {text(): chance.choice(inner)() for _ in range(chance.randrange(5))}

    rows = [
        {
            "dataset_id": chance.randrange(2**63),
            "sequence": chance.randrange(2**63),
            "at_microseconds": chance.randrange(-(2**63), 2**63),
            "actor_id": chance.choice([None, chance.randrange(2**31)]),
            "kind": chance.choice(["reserve", 'a"b\\']),
            "release": chance.choice([None, f"{chance.getrandbits(128):032x}"]),
            "before": canonical(facts()),
            "after": canonical(facts()),
            "previous_hash": f"{chance.getrandbits(256):064x}",
            "salt": chance.choice([None, f"{chance.getrandbits(128):032x}"]),
        }
        for _ in range(2000)
    ]
    query = "SELECT heatmaps_event_hash(e) FROM jsonb_populate_recordset(NULL::heatmaps_event, %s) e"
    with signed_in(postgres, city[1], OWNER) as owner:
        hashes = [stored for (stored,) in owner.execute(query, [Jsonb(rows)])]
    release = Event._meta.get_field("release").to_python
    assert hashes == [event_hash(Event(**row | {"release": release(row["release"])})) for row in rows]


@pytest.mark.long
def test_events_of_several_processes_all_enter(city):
    """Each signed in as one of the roles, each with a connection of its own, to one dataset."""
    made, _ = city

    def append(role):
        url = made.database_url.replace("//hazemap@", f"//{role}@")
        installation = Installation(folder=made.folder, database_url=url, broker_url=made.broker_url)
        return installation.script("appending", "raced", 50)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, (WEB, WEB, WORKER, WORKER)))
    told = made.manage("verify-ledger").stdout  # and nothing that other tests wrote ended a chain
    assert "raced: ok, 205 events" in told.splitlines()
