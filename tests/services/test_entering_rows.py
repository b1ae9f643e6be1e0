"""As the roles of a deployment on PostgreSQL: no row enters that would end what its dataset is for."""

import hashlib
import json

import psycopg
import pytest
from django.core.management import call_command

from heatmaps.ingest import opt_outs
from heatmaps.ingest.versions.advance import next_version
from heatmaps.ledger.administrator_reads import first_problem
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Suppression
from heatmaps.releases import clock, lifecycle, sweep
from tests.ingest import conftest as ingest
from tests.services.test_bound_versions import PEOPLE, WEB, WORKER, as_role

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]
for _name in ("database", "postgresql_url", "state", "sent", "steward", "make_dataset", "receive", "upload"):
    globals()[_name] = getattr(ingest, _name)

# A row of the table with other values: it is complete, and no unique constraint is in the way.
COPY = """INSERT INTO {table} SELECT (jsonb_populate_record(row, %s)).* FROM {table} row
    WHERE dataset_id = %s LIMIT 1"""


@pytest.fixture
def city(make_dataset, upload, steward):
    """A dataset with a file, an opt-out and a queued release, and a decoy; roles are granted."""
    made, decoy = make_dataset("city"), make_dataset("decoy")
    upload(made, PEOPLE)
    opt_outs.opt_out(steward, made, ["u1", "u2"])
    next_version(made, actor=steward)
    next_version(decoy, actor=steward)
    asked = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    lifecycle.request_release(steward, made, asked)
    call_command("grant-roles", verbosity=0)
    return made


def is_refused(connection, statement, values=()):
    try:
        connection.execute(statement, values)
    except psycopg.errors.IntegrityConstraintViolation:
        return True
    return False


def copies(connection, city, table, **changes):
    """Whether a row like those of a dataset is refused, by what is other about it."""
    facts = {"id": "a0000000-0000-4000-8000-000000000000"} | changes
    return is_refused(connection, COPY.format(table=table), [json.dumps(facts), city.pk])


def test_web_makes_no_release_that_was_not_asked(database, city):
    """Spent ones would take every place of a draw, and what cannot be read stops who looks at all of them."""
    with as_role(database, WEB) as web:
        for name, value in {
            "state": "spent",
            "epsilon": "x",
            "delta": "2/4",
            "expires_at": "infinity",
            "requested_at": "-infinity",
            "visible_at": "20000-01-01",
        }.items():
            assert copies(web, city, "heatmaps_release", **{name: value}), name
        for change in ("state = 'spent'", "state = 'failed'", "expires_at = 'infinity'"):
            assert is_refused(web, f"UPDATE heatmaps_release SET {change}"), change
        web.execute("UPDATE heatmaps_release SET state = 'cancelled'")
    clock.tick()
    sweep.sweep()


def test_an_opt_out_of_one_dataset_is_taken_back_there_alone(database, city, steward):
    decoy = Dataset.objects.get(slug="decoy")
    other, row = Suppression.objects.filter(dataset=city).order_by("pk")
    person = {"person": row.person, "person_rest": row.person_rest}
    tries = {
        "of another dataset": {"dataset_id": decoy.pk, "withdraws_id": row.pk, "since": 2} | person,
        "of another person": {"withdraws_id": row.pk, "since": 3, "person": other.person},
        "of a version that is there": {"withdraws_id": row.pk, "since": 2} | person,
        "an entry of a version that is there": {"since": 2},
        "of a version to come": {"since": 4},
    }
    for role in (WEB, WORKER):
        with as_role(database, role) as connection:
            for name, changes in tries.items():
                facts = {"id": 10**6, "entry": "a0000000-0000-4000-8000-000000000000"} | changes
                assert copies(connection, city, "heatmaps_suppression", **facts), name
    assert Suppression.open_of(city).count() == 2
    assert verify(city).ok


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_no_upload_enters_a_version_that_is_there(database, city, role):
    version = city.versions.latest("number")
    with as_role(database, role) as connection:
        for changes in ({"version_id": version.pk}, {"version_id": None, "created_at": "infinity"}):
            facts = {"content_digest": "0" * 64} | changes
            assert copies(connection, city, "heatmaps_upload", **facts), changes


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_reads_by_administrators_follow_from_each_other(database, city, steward, role):
    """A forged one would keep administrators out for ever: without a row they are shown nothing."""

    def insert(connection, **changes):
        genesis = {"administrator_reads_of": city.pk}
        facts = {
            "dataset": city.pk,
            "sequence": 1,
            "at_seconds": 10**9,
            "reader": steward.pk,
            "page": "a:b-c_d",
        }
        facts |= {"previous_hash": digest(genesis)} | changes
        row = facts | {"hash": changes.get("hash", digest(facts))}
        statement = """INSERT INTO heatmaps_administratorread
            (dataset_id, sequence, at_seconds, reader_id, page, previous_hash, hash)
            VALUES (%(dataset)s, %(sequence)s, %(at_seconds)s, %(reader)s, %(page)s, %(previous_hash)s,
                %(hash)s)"""
        return is_refused(connection, statement, row)

    def digest(facts):
        return hashlib.sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    with as_role(database, role) as connection:
        forged = {"sequence": 2**63 - 1, "at_seconds": 2**62, "previous_hash": "", "hash": "0", "page": '"'}
        for name, value in forged.items():
            assert insert(connection, **{name: value}), name
        assert not insert(connection)
        assert insert(connection)  # the same once more
    assert first_problem(city) == ""
