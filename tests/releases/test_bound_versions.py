"""A draw reads what its version's event commits to, or ends without a result.

Whoever may write only some columns is refused by the database; whoever may disable triggers, by the draw.
"""

import json
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import product
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.models import F

from heatmaps.ingest import opt_outs
from heatmaps.ingest.versions.advance import next_version
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.verification import verify
from heatmaps.ledger.version_commitments import VersionChanged
from heatmaps.models import (
    CheckIn,
    Dataset,
    DataVersion,
    Event,
    SourceState,
    Suppression,
    Upload,
    UploadState,
)
from heatmaps.releases import lifecycle
from tests.services.draws import carry_out
from tests.triggers import disabled

# Columns whose rows triggers let change, of an upload that a version includes, and why.
FREE = {
    Upload: {
        "file_name": "what stewards call the file",
        "failure": "what stewards are told",
        "lease_until": "while a worker reads the file",
        "finished_at": "what stewards are told",
        "kept_from": "goes on as too old rows are deleted, never back",
        "rows_expired": "counts up as too old rows are deleted",
    },
    DataVersion: {"is_cleared": "once nothing older is stored"},
    Suppression: {},
    SourceState: {},
}
# What the commitment leaves out besides, and why.
UNBOUND = {
    Upload: FREE[Upload]
    | {
        "batch": "files that wait for each other; a version is made already",
        "advance": "whether a version is made; one is",
        "options": "how the file was read",
        "uploaded_by": "whose name the upload bears",
        "bytes_read": "how far reading was",
        "names_alike": "what stewards are warned of",
    },
    DataVersion: FREE[DataVersion]
    | {
        "created_by": "whose name the version bears, as its event does",
        "created_at": "when it was made, as its event says",
    },
    Suppression: {
        "id": "its rows are named by their entries",
        "created_by": "whose name the row bears",
        "created_at": "when it was entered; `since` is what counts",
    },
    SourceState: {"id": "one state a version", "created_at": "when the tables were looked at"},
}
ONE = 10**12


@pytest.fixture
def held(dataset, steward, make_dataset):
    """A dataset with a file, an opt-out and its withdrawal, and another dataset's version."""
    other = make_dataset("other")
    next_version(other, actor=steward)
    opt_outs.opt_out(steward, dataset, ["ann", "bob"])
    next_version(dataset, actor=steward)
    opt_outs.take_back(steward, dataset, ["ann"])
    state = SourceState.objects.create(
        dataset=dataset, checkins=b"a", opt_outs=b"b", columns={"time": "none"}, rows=1, invalid={}
    )
    next_version(dataset, actor=steward, tables=state)
    return dataset


def row_of(held, model):
    rows = {
        Upload: held.uploads,
        DataVersion: held.versions.order_by("-number"),
        Suppression: held.suppressions.filter(withdraws__isnull=False),
        SourceState: held.source_states,
    }
    return rows[model].first()


def other_value(row, field):
    """A value of the column that the row does not have."""
    now = getattr(row, field.attname)
    if isinstance(field, models.ForeignKey):
        rows = field.related_model._base_manager.exclude(pk=now).order_by("pk")
        rows = rows.filter(withdraws=None) if field.related_model is Suppression else rows
        return rows.values_list("pk", flat=True).first()
    by_kind = {
        models.BooleanField: lambda: not now,
        models.IntegerField: lambda: (now or 0) + 1,
        models.UUIDField: uuid4,
        models.DateTimeField: lambda: (now or datetime.now(UTC)) + timedelta(days=1),
        models.DateField: lambda: date(2026, 5, 1),
        models.JSONField: lambda: {"another": 1},
        models.BinaryField: lambda: b"x",
        models.CharField: lambda: "failed" if field.name == "state" else "x",
        models.TextField: lambda: "x",
    }
    return next(value() for kind, value in by_kind.items() if isinstance(field, kind))


def change(row, field):
    with transaction.atomic():
        changed = type(row)._base_manager.filter(pk=row.pk)
        assert changed.update(**{field.attname: other_value(row, field)}) == 1


@contextmanager
def taken_back():
    """Whatever the block changes is undone at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def is_refused(row, field):
    try:
        with taken_back():
            change(row, field)
    except DatabaseError as refusal:
        return "never changed" in str(refusal)
    return False


def is_noticed(held, row, field):
    """Whether the table's own rules refuse it, or whoever draws and `verify-ledger` see it."""
    version = held.versions.get(number=3)
    try:
        with taken_back():
            change(row, field)
            connection.check_constraints()
            with pytest.raises(VersionChanged):
                version_commitments.check(held, version)
            assert not verify(held).ok, field.name
    except IntegrityError:
        return True
    except pytest.fail.Exception:
        return False
    return True


@pytest.mark.parametrize("model", FREE)
def test_a_trigger_refuses_every_column_that_is_not_free(held, model):
    row = row_of(held, model)
    let_go = {field.name for field in model._meta.concrete_fields if not is_refused(row, field)}
    assert let_go == set(FREE[model])


@pytest.mark.parametrize("model", FREE)
def test_a_draw_refuses_every_column_that_decides_what_it_reads(held, model):
    row = row_of(held, model)
    version_commitments.check(held, held.versions.get(number=3))
    with disabled():
        unseen = {field.name for field in model._meta.concrete_fields if not is_noticed(held, row, field)}
    assert unseen == set(UNBOUND[model])


@pytest.mark.parametrize("model", [Upload, DataVersion, Suppression, SourceState])
def test_a_trigger_refuses_to_delete_or_to_replace_a_row(held, model):
    table = model._meta.db_table
    statements = [f"DELETE FROM {table}", f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"]
    for statement in statements[: 2 if connection.vendor == "sqlite" else 1]:
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


@pytest.mark.parametrize("column", [field.attname for field in CheckIn._meta.concrete_fields])
def test_no_check_in_is_ever_changed(held, column):
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        CheckIn.objects.update(**{column: F(column)})


def test_what_goes_on_goes_forward_alone(held):
    upload, version = held.uploads.first(), held.versions.first()
    Upload.objects.filter(pk=upload.pk).update(kept_from=date(2026, 5, 2), rows_expired=2)
    DataVersion.objects.filter(pk=version.pk).update(is_cleared=True)
    for rows, back in (
        (Upload.objects.filter(pk=upload.pk), {"kept_from": date(2026, 5, 1)}),
        (Upload.objects.filter(pk=upload.pk), {"kept_from": None}),
        (Upload.objects.filter(pk=upload.pk), {"rows_expired": 1}),
        (DataVersion.objects.filter(pk=version.pk), {"is_cleared": False}),
    ):
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            rows.update(**back)


def test_upload_states_go_on_and_never_back(held, steward):
    """Every pair of states, of a file that no version includes."""
    allowed = {
        ("received", "staged"),
        *(("staged", after) for after in ("received", "ready", "failed")),
        ("ready", "undone"),
    }
    moved = set()
    for before, after in product(UploadState.values, repeat=2):
        upload = Upload.objects.create(
            dataset=held, state=before, uploaded_by=steward, size_bytes=1, content_digest=uuid4().hex
        )
        try:
            with transaction.atomic():
                Upload.objects.filter(pk=upload.pk).update(state=after)
        except DatabaseError:
            continue
        if before != after:
            moved.add((before, after))
    assert moved == allowed


# --- draws --------------------------------------------------------------------------------------------


def committed(dataset):
    return dataset.accounts.get(kind="presence").committed


def test_check_ins_moved_to_a_decoy_are_not_drawn(dataset, make_dataset, analyst, ask, caplog):
    decoy = make_dataset("decoy")
    next_version(decoy, actor=decoy.created_by)
    release = lifecycle.request_release(analyst, decoy, ask())
    with disabled():
        dataset.uploads.update(dataset=decoy)
        carry_out(release.pk)
    release.refresh_from_db()
    assert (release.state, committed(decoy)) == ("failed", ONE // 2)
    [line] = [line for line in caplog.records if "release.no_result" in line.getMessage()]
    assert "VersionChanged" in line.getMessage()
    assert not verify(decoy).ok
    assert not verify(dataset).ok


def test_whoever_opted_out_is_not_drawn_without_the_row(dataset, analyst, steward, ask):
    opt_outs.opt_out(steward, dataset, ["ann"])
    next_version(dataset, actor=steward)
    release = lifecycle.request_release(analyst, dataset, ask())
    with disabled():
        Suppression.objects.all().delete()
        carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "failed"
    assert verify(dataset).problem == "version 2: what it holds is not what its event commits to"


def test_a_row_of_another_dataset_takes_no_opt_out_back(held, steward):
    """No commitment of this dataset covers it: neither of an entry nor of one that was taken back."""
    other = Dataset.objects.get(slug="other")
    rows = dict(Suppression.objects.filter(dataset=held).values_list("pk", "withdraws"))
    numbers = Suppression.in_effect(held.versions.latest("number")).count(), Suppression.open_of(held).count()
    for pk in rows:
        Suppression.objects.create(
            dataset=other, person=0, since=1, withdraws=Suppression(pk=pk), created_by=steward
        )
    assert numbers == (1, 1)
    assert Suppression.in_effect(held.versions.latest("number")).count() == 1
    assert Suppression.open_of(held).count() == 1


def test_it_is_drawn_whatever_comes_after_its_version(dataset, analyst, steward, ask, add_checkins):
    opt_outs.opt_out(steward, dataset, ["ann"])
    next_version(dataset, actor=steward)
    release = lifecycle.request_release(analyst, dataset, ask())
    opt_outs.take_back(steward, dataset, ["ann"])
    opt_outs.opt_out(steward, dataset, ["bob"])
    add_checkins(dataset)
    carry_out(release.pk)
    release.refresh_from_db()
    assert release.state == "published"
    assert verify(dataset).problem == ""


@pytest.mark.parametrize("fact", ["west", "relation", "is_collection"])
def test_a_dataset_that_was_changed_is_not_drawn(dataset, fact):
    other = {"west": -98.5, "relation": "replace", "is_collection": True}[fact]
    more = {"persons": 40, "radius_m": 500} if fact != "west" else {}
    Dataset.objects.filter(pk=dataset.pk).update(**{"relation": "replace"} | more if more else {fact: other})
    Dataset.objects.filter(pk=dataset.pk).update(**{fact: other})
    with pytest.raises(VersionChanged):
        version_commitments.check(dataset, dataset.versions.get())


def test_a_version_that_no_event_binds_is_not_drawn(dataset, steward):
    version = DataVersion.objects.create(dataset=dataset, number=2, created_by=steward)
    step = {"before": {"version": 1}, "after": {"version": 2}}
    transitions.record(dataset, "version", actor=steward, **step)
    with pytest.raises(VersionChanged):
        version_commitments.check(dataset, version)
    assert verify(dataset).first_bad_sequence == 3


def test_a_version_of_another_dataset_is_not_drawn(held):
    other = Dataset.objects.get(slug="other")
    with pytest.raises(VersionChanged):
        version_commitments.check(other, held.versions.get(number=1))


def test_commitments_to_the_same_are_different(dataset, make_dataset, steward):
    """So nobody who knows or guesses what came in can see whether it did."""
    next_version(dataset, actor=steward)
    events = Event.objects.filter(dataset=dataset, kind="version").values_list("after", flat=True)
    digests = {json.loads(after)["commitment"] for after in events}
    salts = set(dataset.versions.values_list("salt", flat=True))
    assert (len(digests), len(salts), {len(salt) for salt in salts}) == (2, 2, {32})
