"""What an upgrade makes of the rows of the version before. On SQLite and on PostgreSQL."""

import functools
import importlib
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations import RunPython
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from heatmaps import datasets
from heatmaps.ledger import events, transitions, version_commitments
from heatmaps.ledger.verification import verify
from heatmaps.models import AdministratorRead, Dataset, Drawing, Enrolment, Invitation, Release, RowCapacity
from heatmaps.releases import clock as moments
from heatmaps.releases import lifecycle
from tests.ingest import conftest as ingest
from tests.services.draws import carry_out

for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

BEFORE = "0002_triggers_of_2026"  # what the version before has
MOMENTS = importlib.import_module("heatmaps.migrations.0007_public_moments")
DAY = timedelta(days=1)
COMMITTED = {"reserved": 10**12 * 9 // 20}  # two of three


@pytest.fixture
def db(database):
    """Real commits, and migrations of a whole database."""


@pytest.fixture
def clock(monkeypatch):
    """Moves the product's clock on."""
    offset = [timedelta()]
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + offset[0])

    def move(by):
        offset[0] += by

    return move


@pytest.fixture
def request_of(make_dataset, add_checkins, analyst, ask, monkeypatch):
    """A reserved release of a dataset, whose ledger knows neither sizes, moments nor names of numbers."""

    def make(slug, epsilon="0.5"):
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None:
            with monkeypatch.context() as earlier:
                earlier.setattr(datasets, "_row", functools.partial(ingest.row_of_before, datasets._row))
                dataset = make_dataset(slug, row_capacity=RowCapacity.HUGE)
                earlier.setattr(events, "append", functools.partial(append_as_before, events.append))
                add_checkins(dataset)
        with monkeypatch.context() as earlier:
            earlier.setattr(events, "append", functools.partial(append_as_before, events.append))
            return lifecycle.request_release(analyst, dataset, ask(epsilon=epsilon))

    return make


@pytest.fixture
def published(request_of, clock, monkeypatch):
    """Drawn by a program that compared no rows with events."""
    release = request_of("published")
    with monkeypatch.context() as earlier:
        earlier.setattr(version_commitments, "check", lambda _dataset, _version: None)
        carry_out(release.pk)
    clock(DAY)
    moments.tick()
    return release


@pytest.fixture
def begun(request_of):
    """Several workers read for it."""
    release = request_of("begun")
    transitions.spend(release.pk)
    return release


@pytest.fixture
def reserved(request_of):
    return [request_of("reserved", epsilon) for epsilon in ("0.25", "0.2", "0.05")]


@pytest.fixture
def go_back(begun, monkeypatch):
    """Makes it the database that the version before would have, with what it alone has."""

    def make():
        with pytest.raises(IrreversibleError, match="restore a backup"):
            call_command("migrate", "heatmaps", "0006", verbosity=0)
        monkeypatch.setattr(MOMENTS.Migration.operations[-1], "reverse_code", RunPython.noop)
        call_command("migrate", "heatmaps", "0002", verbosity=0)
        model = MigrationExecutor(connection).loader.project_state([("heatmaps", BEFORE)]).apps.get_model
        fan_out = model("heatmaps", "FanOut").objects.create(
            release_id=begun.pk, left=1, created_at=timezone.now()
        )
        shard = fan_out.shards.create(number=0, of=2, state="done", attempts=1)
        shard.pieces.create(number=0, content=b"sums")
        model("heatmaps", "Enrolment").objects.create(dataset_id=begun.dataset_id, person=7)
        model("heatmaps", "OneTimeLink").objects.create(
            purpose="reset",
            digest="0" * 64,
            account_id=begun.dataset.created_by_id,
            made_by_id=begun.dataset.created_by_id,
            expires_at=timezone.now() + DAY,
        )

    return make


def append_as_before(append, *args, after, **options):
    told = {name: fact for name, fact in after.items() if name not in ("moments", "commitment")}
    return append(*args, after=told, **options)


def stored(release):
    return Release.objects.get(pk=release.pk)


def test_an_upgrade_keeps_what_was_promised(published, begun, reserved, clock, go_back):
    go_back()

    call_command("migrate", verbosity=0)

    # Moments do not tell when a draw ended. What was reserved is drawn, in turn. A draw that was going on has
    # lost its worker, and one charge is drawn once: it ends without a result.
    assert stored(published).visible_at == stored(published).starts_at == stored(published).requested_at
    slots = [(release.starts_at, release.visible_at) for release in map(stored, reserved)]
    assert [starts for starts, _ in slots[1:]] == [ends for _, ends in slots[:-1]]
    waits = {release.expires_at - release.starts_at for release in map(stored, reserved)}
    assert max(waits) - min(waits) < timedelta(minutes=1)
    assert transitions.cancel(reserved[-1].pk, actor=reserved[-1].requested_by)
    assert not lifecycle.run(begun.pk)
    for release in reserved[:-1]:
        moments.tick()
        assert stored(release).state == "spent"
        lifecycle.run(release.pk)
        clock(stored(release).visible_at - timezone.now())
        moments.tick()
    clock(DAY)
    moments.tick()
    states = [stored(release).state for release in (published, begun, *reserved)]
    assert states == ["published", "failed", "published", "published", "cancelled"]
    assert not Drawing.objects.exists()
    for dataset in Dataset.objects.all():
        assert (
            dataset.accounts.get(kind="presence").committed
            == 10**12 * (9 if dataset.slug == "reserved" else 10) // 20
        )
        assert verify(dataset).problem == ""

    # Datasets tell people apart as before, new ones better.
    kept = Dataset.objects.values_list("person_bits", "user_form", "row_capacity")
    assert set(kept) == {(63, "", RowCapacity.HUGE)}
    assert (Dataset().person_bits, Dataset().user_form) == (128, "decimal")
    assert Enrolment.objects.get().person_rest == 0
    assert not Invitation.objects.exists()  # links for new passwords are no rows any more

    assert not {"heatmaps_fanout", "heatmaps_shard"} & set(connection.introspection.table_names())
    AdministratorRead.objects.create(
        dataset=begun.dataset, sequence=1, at_seconds=1, reader=begun.requested_by
    )
    for act in (AdministratorRead.objects.all().delete, lambda: AdministratorRead.objects.update(page="")):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            act()
