"""Whoever draws believes the events: what does not follow from them draws nothing and keeps its charge."""

import json
import logging
from contextlib import contextmanager
from datetime import datetime, timedelta
from fractions import Fraction
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.urls import reverse

from heatmaps import masses
from heatmaps.ledger import facts, transitions
from heatmaps.ledger.facts import NOT_PAID_FOR
from heatmaps.ledger.verification import verify
from heatmaps.models import Account, Drawing, Election, Event, Ledger, Release, Result
from heatmaps.releases import clock, draws, lifecycle
from heatmaps.releases.question import latest_version, question_of
from heatmaps.releases.request import Plan
from mechanisms.guarantee import Guarantee, Relation
from tests.services import seed
from tests.services.draws import carry_out

pytestmark = pytest.mark.unguarded

# These decide neither what is drawn nor what it costs. A new column is tried as the others are.
NO_MATTER = {
    *("name", "note", "is_name_public", "public_since", "finished_at"),
    # Over once it is spent; triggers hold them.
    *("requested_at", "expires_at"),
}
COLUMNS = [field.name for field in Release._meta.concrete_fields if field.name not in NO_MATTER]


@pytest.fixture
def release(request, dataset, analyst, ask):
    question = ask(epsilon=getattr(request, "param", "0.5"), since="2020-01-01")
    asked = lifecycle.request_release(analyst, dataset, question)
    transitions.spend(asked.pk)
    return asked


@pytest.fixture(autouse=True)
def reads(monkeypatch):
    """How many times check-ins were read."""
    read, seen = masses.read, []
    monkeypatch.setattr(masses, "read", lambda *given, **named: seen.append(given) or read(*given, **named))
    return seen


@contextmanager
def undone():
    savepoint = transaction.savepoint()  # no block of its own: an election is committed at once
    yield
    transaction.savepoint_rollback(savepoint)


def other_value(release, name, decoy):
    """Another value of a column, as a draw could believe it."""
    value, kind = getattr(release, name), Release._meta.get_field(name).get_internal_type()
    named = {
        "id": uuid4(),
        "dataset": decoy,
        "version": release.dataset.versions.latest("number"),
        "requested_by": decoy.created_by,
        "state": "reserved",
        "mechanism": "laplace",
        "guide_release": release,
        "guide_file": decoy.guide_files.first(),
        "guarantee": Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(100)).to_json(),
        "rectangle": [0, 0, 2**30, 2**30],
    }
    if name in named:
        return named[name]
    if kind == "JSONField":
        return {**value, "another": 1}
    if isinstance(value, datetime):
        return value - timedelta(seconds=1)
    return "0" * 64 if isinstance(value, str) else 1 if value is None else value + 1


def change(release, name, value):
    """Change a column, and those that its table demands with it."""
    changes = {name: value}
    if name.startswith("guide_"):
        guide = value if name == "guide_release" else release
        changes = {"guide_release": guide, "guide_sha256": "0" * 64} | changes
    if name == "guide_file":
        changes["guide_release"] = None
    assert Release.objects.filter(pk=release.pk).update(**changes) == 1


def read_again(release_id):
    """As a worker reads it."""
    return Release.objects.select_related("dataset", "version").get(pk=release_id)


def test_no_column_may_be_another_one_than_was_reserved(dataset, release, steward):
    decoy = seed.make_dataset(steward, "decoy")
    seed.store_guide(steward, decoy)
    seed.add_checkins(dataset)
    for name in COLUMNS:
        value = other_value(release, name, decoy)
        with undone():
            change(release, name, value)
            assert not draws.claim(read_again(value if name == "id" else release.pk)), name
            states = list(Drawing.objects.values_list("state", flat=True))
        assert states == ([] if name == "state" else ["refused"]), name
    assert not Election.objects.filter(release=release).exists()


def test_what_decides_no_draw_may_change(release, steward):
    for name in NO_MATTER - {"is_name_public"}:
        value = getattr(release, name) or (release.requested_at if name.endswith(("_at", "_since")) else "x")
        change(release, name, value if isinstance(value, str) else value + timedelta(seconds=1))
    assert draws.claim(read_again(release.pk))


ACCOUNT = {
    "limit": {"limit": F("limit") + 1},
    "committed": {"committed": 0},
    "unbounded": {"unbounded": True, "limit": None},
}


def test_no_limit_may_be_another_one_than_its_events_say(dataset, release):
    for name, changes in ACCOUNT.items():
        with undone():
            Account.objects.filter(dataset=dataset, kind="presence").update(**changes)
            assert not draws.claim(read_again(release.pk)), name
            assert Drawing.objects.get().state == "refused", name
    assert draws.claim(read_again(release.pk))


def execute(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


UNGUARD = {
    "sqlite": "DROP TRIGGER event_refuses_update",
    "postgresql": "ALTER TABLE heatmaps_event DISABLE TRIGGER USER",
}
LEDGER = {
    "its charge": "UPDATE heatmaps_charge SET amount = 0",
    "the region": "UPDATE heatmaps_dataset SET east = 2",
    "the ledger's head": "UPDATE heatmaps_ledger SET last_hash = '0'",
    "no spend": "UPDATE heatmaps_event SET kind = 'spent' WHERE kind = 'spend'",
    "the reserve event": "UPDATE heatmaps_event SET after = replace(after, '1/2', '20/1')",
    "no last event": "UPDATE heatmaps_event SET sequence = 99 WHERE kind = 'spend'",
}


@pytest.mark.parametrize("name", LEDGER)
def test_a_ledger_that_does_not_hold_draws_nothing(release, reads, name):
    connection.check_constraints()
    execute(UNGUARD[connection.vendor], LEDGER[name])
    lifecycle.run(release.pk)
    assert Drawing.objects.get().state == "refused"
    assert not reads


def test_nothing_is_drawn_for_a_release_that_has_an_end_by_its_events(dataset, release):
    """Published, and its row set back: its election refuses it, and so would its events."""
    carry_out(release.pk)
    Result.objects.all().delete()
    Release.objects.update(state="spent")
    assert not draws.claim(read_again(release.pk))
    assert not Drawing.objects.exists()
    assert "published" in draws.Payment(read_again(release.pk)).problem(Ledger.objects.get())


@pytest.mark.parametrize("release", ["0.02"], indirect=True)
def test_an_accuracy_of_100_000_is_not_drawn_for_a_fiftieth(release, ask, settings, caplog, reads):
    """The row is changed after .02 was paid, and put back once it was drawn."""
    dataset = release.dataset
    committed = list(Account.objects.values())
    settings.MAX_EPSILON = 10**6
    planned = Plan.of(dataset, ask(epsilon="100000", since="2020-01-01"))
    rows = Release.objects.filter(pk=release.pk)
    paid = rows.values("epsilon", "guarantee", "parameters", "question").get()
    rows.update(
        epsilon=planned.terms.epsilon,
        guarantee=planned.guarantee.to_json(),
        parameters=dict(planned.draw.parameters),
        question=planned.question(release.version),
    )
    with caplog.at_level(logging.INFO):
        lifecycle.run(release.pk)
    rows.update(**paid)
    lifecycle.run(release.pk)
    clock.tick()

    assert not reads
    assert not Result.objects.exists()
    assert rows.get().state == "failed"
    assert list(Account.objects.values()) == committed
    assert caplog.text.count("release.not_paid_for") == 1
    assert json.loads(Event.objects.get(kind="fail").after)["reason"] == NOT_PAID_FOR
    client = Client()
    client.force_login(release.requested_by)
    page = client.get(reverse("release", args=[release.pk])).content.decode()
    assert "it was not what the ledger says was paid for" in page
    assert verify(dataset).ok


def test_a_smaller_limit_of_the_server_holds_for_what_was_reserved_before(release, settings, reads):
    settings.MAX_EPSILON = Fraction(1, 4)
    lifecycle.run(release.pk)
    assert Drawing.objects.get().state == "refused"
    assert not reads


def test_a_charge_below_the_price_draws_nothing(dataset, analyst, ask, reads):
    """As whoever writes rows and events could reserve it: the ledger itself holds."""
    planned = Plan.of(dataset, ask())
    release = seed.new_release(analyst, planned, latest_version(dataset))
    cheap = {kind: amount and amount - 1 for kind, amount in planned.charges.items()}
    transitions.reserve(release, cheap, actor=analyst)
    transitions.spend(release.pk)
    lifecycle.run(release.pk)
    assert verify(dataset).ok
    assert Drawing.objects.get().state == "refused"
    assert not reads


def test_a_part_of_the_region_is_not_drawn_of_whole_records(make_dataset, analyst, reads):
    """As whoever writes rows and events could reserve it: choosing records by place is no short move."""
    dataset = make_dataset("means", Relation.REPLACE, limits={"record": None, "radius": "2"})
    seed.add_checkins(dataset)
    request = lifecycle.ReleaseRequest(mechanism="emd-linear", epsilon="0.5")
    planned = Plan.of(dataset, request)
    release = seed.new_release(analyst, planned, latest_version(dataset))
    release.rectangle = [0, 0, 2**30, 2**30]
    release.question = question_of(release)
    transitions.reserve(release, planned.charges, actor=analyst)
    transitions.spend(release.pk)
    lifecycle.run(release.pk)
    assert Drawing.objects.get().state == "failed"


@pytest.fixture
def asked_before(dataset, analyst, ask, monkeypatch):
    """A release whose event is of before there were details."""
    whole = facts.release_facts
    with monkeypatch.context() as earlier:
        earlier.setattr(
            facts,
            "release_facts",
            lambda row: {name: fact for name, fact in whole(row).items() if name != "details"},
        )
        asked = lifecycle.request_release(analyst, dataset, ask())
    assert "details" not in Event.objects.get(kind="reserve").after
    return asked


def test_what_was_reserved_before_events_had_details_is_drawn(dataset, asked_before):
    carry_out(asked_before.pk)
    assert Release.objects.get().state == "published"
    assert verify(dataset).ok


def test_its_question_holds_its_parameters(asked_before):
    transitions.spend(asked_before.pk)
    change(asked_before, "parameters", {**asked_before.parameters, "another": 1})
    assert not draws.claim(read_again(asked_before.pk))
    assert Drawing.objects.get().state == "refused"


def test_details_do_not_depend_on_how_a_database_spells_numbers():
    rows = [Release(epsilon=1, expected_error={"value": value}) for value in (1e20, 10**20)]
    assert len({facts._details(row) for row in rows}) == 1
    rows = [Release(epsilon=1, expected_error={"value": value}) for value in (0.0, -0.0)]
    assert len({facts._details(row) for row in rows}) == 1
