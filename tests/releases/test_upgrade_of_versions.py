"""What an upgrade makes of versions that no event binds, and of opt-outs that were changed in place."""

import functools

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from heatmaps.ingest.versions.advance import next_version
from heatmaps.ledger import events
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, Release, Suppression
from heatmaps.releases import lifecycle
from tests.ingest import conftest as ingest
from tests.releases.test_upgrade import append_as_before
from tests.services.draws import carry_out

for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

BEFORE = "0027_heartbeats"
# By person: (version it took effect with, version that ended it, whether it was taken back); none: the next.
OPT_OUTS = {
    1: [(2, None, False)],
    2: [(2, 3, True)],
    3: [(1, None, True)],
    4: [(None, None, False)],
    5: [(1, 2, True), (3, None, False)],
}
LEFT_OUT = {1: {3, 5}, 2: {1, 2, 3}, 3: {1, 3, 5}, 4: {1, 4, 5}}


@pytest.fixture
def db(database):
    """Real commits, and migrations of a whole database."""


@pytest.fixture
def dataset_of_before(make_dataset, add_checkins, monkeypatch):
    """With two data versions, whose events say nothing of what they hold."""
    dataset = make_dataset("before")
    with monkeypatch.context() as earlier:
        earlier.setattr(events, "append", functools.partial(append_as_before, events.append))
        add_checkins(dataset)
        add_checkins(dataset, seed=2)
    return dataset


@pytest.fixture
def before(dataset_of_before, analyst, ask, steward, monkeypatch):
    """The database of the version before, with three data versions and a release queued on the second."""
    dataset = dataset_of_before
    release = lifecycle.request_release(analyst, dataset, ask())
    with monkeypatch.context() as earlier:
        earlier.setattr(events, "append", functools.partial(append_as_before, events.append))
        next_version(dataset, actor=steward)
    call_command("migrate", "heatmaps", "0027", verbosity=0)
    model = MigrationExecutor(connection).loader.project_state([("heatmaps", BEFORE)]).apps.get_model
    versions = {None: None} | {row.number: row for row in model("heatmaps", "DataVersion").objects.all()}
    for person, rows in OPT_OUTS.items():
        for since, until, is_withdrawn in rows:
            model("heatmaps", "Suppression").objects.create(
                dataset_id=dataset.pk,
                person=person,
                version=versions[since],
                until=versions[until],
                is_withdrawn=is_withdrawn,
                created_by_id=steward.pk,
            )
    return dataset, release


@pytest.mark.long
def test_an_upgrade_binds_what_there_is_and_changes_no_version(before, steward):
    dataset, release = before

    call_command("migrate", verbosity=0)

    assert verify(dataset).problem == ""
    [event] = Event.objects.filter(dataset=dataset, kind="bound")
    assert (event.actor, event.release) == (None, None)
    states = dict(Suppression.entries_of(dataset).order_by("pk").values_list("person", "state"))
    assert states == {1: "in_effect", 2: "ended", 3: "ending", 4: "waiting", 5: "in_effect"}
    next_version(dataset, actor=steward)
    left_out = {
        version.number: set(Suppression.in_effect(version).values_list("person", flat=True))
        for version in dataset.versions.all()
    }
    assert left_out == LEFT_OUT
    # It was reserved on the version before the one that is bound, which covers it.
    carry_out(release.pk)
    assert Release.objects.get(pk=release.pk).state == "published"
    assert verify(dataset).problem == ""
