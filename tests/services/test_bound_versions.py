"""As web's own role on PostgreSQL: nothing that a version holds is moved, changed or deleted."""

import psycopg
import pytest
from django.core.management import call_command

from heatmaps.ingest import opt_outs
from heatmaps.ingest.versions.advance import next_version
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, DataVersion, SourceState, Suppression, Upload
from heatmaps.releases import lifecycle
from tests.ingest import conftest as ingest
from tests.services.draws import carry_out

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]
for _name in ("database", "postgresql_url", "state", "sent", "steward", "make_dataset", "receive", "upload"):
    globals()[_name] = getattr(ingest, _name)

OWNER, WEB, WORKER = "hazemap", "hazemap_web", "hazemap_worker"
PEOPLE = [(f"u{at}", "", 41.5, 2.1 + at / 100) for at in range(40)]
# What web may change of them: what its pages do. The triggers let all of it go forward alone.
CHANGED = {
    Dataset: {"schedule", "next_version_at", "retention_days", "embed_origins"},
    DataVersion: set(),
    SourceState: {"version_id"},
    Suppression: set(),
    Upload: {"state", "version_id", "finished_at", "rows_accepted", "rows_rejected", "rows_outside"},
}


@pytest.fixture
def city(make_dataset, upload, steward):
    """A dataset with a file and an opt-out, and a decoy with a version; roles are granted."""
    made, decoy = make_dataset("city"), make_dataset("decoy")
    upload(made, PEOPLE)
    opt_outs.opt_out(steward, made, ["u1", "u2"])
    next_version(made, actor=steward)
    next_version(decoy, actor=steward)
    call_command("grant-roles", verbosity=0)
    return made


def as_role(database, role):
    return psycopg.connect(database.replace("//hazemap@", f"//{role}@"), autocommit=True)


def refused(connected, statement):
    try:
        connected.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False


def nothing_of(table, column):
    return f'UPDATE {table} SET "{column}" = "{column}" WHERE false'


def test_web_changes_no_column_but_those_of_its_pages(database, city):
    with as_role(database, WEB) as web:
        for model, allowed in CHANGED.items():
            table = model._meta.db_table
            columns = {field.column for field in model._meta.concrete_fields}
            let = {name for name in columns if not refused(web, nothing_of(table, name))}
            assert let == allowed, table
            assert refused(web, f"DELETE FROM {table} WHERE false"), table
        assert refused(web, "SELECT cell FROM heatmaps_checkin")


def test_neither_role_moves_an_upload_or_deletes_an_opt_out(database, city):
    """The recipes of a taken-over web process, as a worker, too: a trigger stops what no right does."""
    decoy = Dataset.objects.get(slug="decoy")
    move = f"UPDATE heatmaps_upload SET dataset_id = {decoy.pk}"
    with as_role(database, WEB) as web, as_role(database, WORKER) as worker:
        assert refused(web, move)
        with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="never changed"):
            worker.execute(move)
        for connected in (web, worker):
            assert refused(connected, "DELETE FROM heatmaps_suppression")
            assert refused(connected, "DELETE FROM heatmaps_upload")
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="never changed"):
                connected.execute("UPDATE heatmaps_upload SET state = 'undone'")
    assert verify(city).ok


def test_a_superuser_who_moved_an_upload_has_nothing_drawn(database, city, steward):
    """Past the triggers: the draw refuses, its charge stays, and both ledgers say so until it is put back."""
    decoy = Dataset.objects.get(slug="decoy")
    asked = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    release = lifecycle.request_release(steward, decoy, asked)
    move = f"UPDATE heatmaps_upload SET dataset_id = {decoy.pk}"
    with as_role(database, OWNER) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute(move)
        carry_out(release.pk)
        release.refresh_from_db()
        assert release.state == "failed"
        assert [verify(dataset).ok for dataset in (city, decoy)] == [False, False]
        owner.execute(move.replace(str(decoy.pk), str(city.pk)))
        assert verify(city).ok
        assert verify(decoy).ok
        owner.execute("DELETE FROM heatmaps_suppression")
        assert verify(city).problem == "version 2: what it holds is not what its event commits to"
