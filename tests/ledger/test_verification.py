"""Whatever somebody with the database file changes, verification names the first bad row."""

import hashlib
import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from heatmaps.ledger import facts, transitions
from heatmaps.ledger.events import canonical, event_hash
from heatmaps.ledger.verification import verify
from heatmaps.models import (
    Account,
    Allowance,
    Charge,
    Dataset,
    DataVersion,
    Event,
    Ledger,
    Release,
    Result,
)
from mechanisms.guarantee import Relation
from tests.conftest import drop_triggers
from tests.services import draws

pytestmark = pytest.mark.unguarded

ONE = 10**12


@pytest.fixture
def story(dataset, reserve):
    """Twelve events: open, version, a published, a failed, a cancelled and a queued release, a limit."""
    published, failed, cancelled = reserve(dataset), reserve(dataset), reserve(dataset)
    transitions.spend(published.pk)
    draws.publish(published.pk, b"map")
    transitions.spend(failed.pk)
    draws.fail(failed.pk)
    transitions.cancel(cancelled.pk, actor=None)
    account = dataset.accounts.get(kind="presence")
    transitions.change_limit(account, 20 * ONE, actor=dataset.created_by, reason="more")
    reserve(dataset, 15 * ONE)
    drop_triggers()
    return dataset


def events(dataset):
    return Event.objects.filter(dataset=dataset)


def rehash(dataset, first):
    """What a careful forger does: hashes from `first` on, and the head, fit again."""
    previous = events(dataset).get(sequence=first - 1).hash
    for event in events(dataset).filter(sequence__gte=first).order_by("sequence"):
        event.previous_hash = previous
        event.hash = previous = event_hash(event)
        event.save()
    last = events(dataset).latest("sequence")
    Ledger.objects.filter(dataset=dataset).update(last_sequence=last.sequence, last_hash=last.hash)


def test_it_verifies_an_honest_ledger(story):
    report = verify(story)
    assert (report.ok, report.events, report.problem) == (True, 12, "")


@pytest.mark.django_db(transaction=True)
def test_it_holds_up_no_move(story):
    """Whoever reads a long ledger would else hold up the moments of all releases."""
    with CaptureQueriesContext(connection) as told:
        assert verify(story).ok
    said = " ".join(query["sql"] for query in told)
    assert re.search(r"BEGIN DEFERRED|REPEATABLE READ, READ ONLY", said)
    assert not re.search(r"IMMEDIATE|FOR UPDATE|advisory", said)

    with CaptureQueriesContext(connection) as told:
        assert transitions.cancel(story.releases.get(state="reserved").pk, actor=None)
    assert re.search(r"IMMEDIATE|FOR UPDATE", " ".join(query["sql"] for query in told))  # as before


COLUMNS = {
    "at_microseconds": F("at_microseconds") + 1,
    "actor": None,
    "kind": "spend",
    "release": None,
    "before": "{}",
    "after": "{}",
    "previous_hash": "0" * 64,
    "hash": "0" * 64,
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("sequence", [3, 12])
def test_it_finds_an_edited_event(story, column, sequence):
    assert events(story).filter(sequence=sequence, kind="reserve").update(**{column: COLUMNS[column]})
    report = verify(story)
    assert not report.ok
    assert report.first_bad_sequence == sequence


@pytest.mark.parametrize("sequence", [1, 2, 7, 12])
def test_it_finds_a_removed_event(story, sequence):
    events(story).filter(sequence=sequence).delete()
    assert verify(story).first_bad_sequence == sequence


def test_it_finds_a_removed_event_whose_place_was_filled(story):
    events(story).filter(sequence=6).delete()
    for event in events(story).filter(sequence__gt=6).order_by("sequence"):
        events(story).filter(pk=event.pk).update(sequence=event.sequence - 1)
    assert verify(story).first_bad_sequence == 6


def test_it_finds_events_in_another_order(story):
    events(story).filter(sequence=3).update(sequence=1000)
    events(story).filter(sequence=4).update(sequence=3)
    events(story).filter(sequence=1000).update(sequence=4)
    assert verify(story).first_bad_sequence == 3


def test_it_finds_an_inserted_event(story):
    last = events(story).latest("sequence")
    Event.objects.create(
        dataset=story,
        sequence=13,
        at_microseconds=last.at_microseconds,
        kind="version",
        before="{}",
        after="{}",
        previous_hash=last.hash,
        hash="0" * 64,
    )
    assert verify(story).first_bad_sequence == 13


def test_it_finds_a_well_made_event_that_the_head_does_not_know(story):
    last = events(story).latest("sequence")
    event = Event(dataset=story, sequence=13, at_microseconds=1, kind="note", before="{}", after="{}")
    event.previous_hash = last.hash
    event.hash = event_hash(event)
    event.save()
    Ledger.objects.filter(dataset=story).update(last_sequence=12, last_hash=last.hash)
    report = verify(story)
    assert (report.first_bad_sequence, "head" in report.problem) == (14, True)


def test_it_finds_a_chain_of_another_dataset(story, make_dataset):
    other = make_dataset("other")
    theirs = list(events(other).values_list("pk", flat=True))
    Event.objects.filter(dataset=story).update(dataset=other, sequence=F("sequence") + 1000)
    Event.objects.filter(pk__in=theirs).update(dataset=story)
    assert verify(story).first_bad_sequence == 1


def test_it_finds_a_forged_history_by_its_moves(story):
    """The chain fits again, but a release was published that never was spent."""
    spent = events(story).get(sequence=6)
    assert spent.kind == "spend"
    events(story).filter(pk=spent.pk).update(kind="note", release=None)
    rehash(story, 6)
    report = verify(story)
    assert (report.first_bad_sequence, "state" in report.problem) == (7, True)


def test_it_finds_a_forged_history_by_its_balances(story):
    event = events(story).get(sequence=3)
    after = event.after.replace(str(ONE), str(ONE // 2))
    assert after != event.after
    events(story).filter(sequence=3).update(after=after)
    rehash(story, 3)
    report = verify(story)
    assert (report.first_bad_sequence, "balance" in report.problem) == (4, True)


def test_it_finds_a_forged_charge_above_the_limit(story):
    limit = events(story).get(kind="limit")
    low = canonical({"limits": {"delta": 10 * ONE}, "reason": "x"})
    events(story).filter(pk=limit.pk).update(after=low, before=low)
    rehash(story, limit.sequence)
    report = verify(story)
    assert (report.first_bad_sequence, "limit" in report.problem) == (12, True)


@pytest.mark.parametrize("charge", [-ONE, True])
def test_it_finds_what_is_no_charge(story, new_release, charge):
    """A release that nobody draws would else give back what others cost, and rows and events agree."""
    release = new_release(story)
    release.save()
    ledger = Ledger.objects.get(dataset=story)
    rows = {account.kind: account for account in story.accounts.all()}
    before = facts.balances(rows.values())
    rows["presence"].committed += int(charge)
    after = {
        "state": "reserved",
        "release": facts.release_facts(release),
        "moments": facts.moments(release),
        "charges": {"presence": charge, "delta": 0},
        "committed": facts.balances(rows.values()),
    }
    event = events(story).latest("sequence")
    event.pk, event.sequence, event.release = None, event.sequence + 1, release.pk
    event.before, event.after = (json.dumps(each, sort_keys=True) for each in ({"committed": before}, after))
    event.previous_hash = ledger.last_hash
    event.hash = event_hash(event)
    event.save()
    rows["presence"].save()
    Charge.objects.bulk_create(
        Charge(release=release, account=row, amount=int(after["charges"][kind])) for kind, row in rows.items()
    )
    Allowance.objects.update(committed=F("committed") + int(charge))
    report = verify(story)
    assert (report.first_bad_sequence, report.problem) == (13, "the event charges what is no charge")


@pytest.mark.parametrize("after", ["", "[]", '{"state":7}', '{"state":"reserved","charges":3}'])
def test_it_names_an_event_that_cannot_be_read(story, after):
    events(story).filter(sequence=3).update(after=after)
    rehash(story, 3)
    assert verify(story).first_bad_sequence == 3


@pytest.mark.parametrize(
    ("column", "value"), [("committed", 0), ("limit", 30 * ONE), ("limit", None), ("committed", 18 * ONE)]
)
def test_it_finds_an_edited_account(story, column, value):
    Account.objects.filter(dataset=story, kind="presence").update(**{column: value})
    report = verify(story)
    assert (report.ok, report.problem.startswith("account presence")) == (False, True)


@pytest.mark.parametrize("state", ["reserved", "spent", "published", "failed", "cancelled"])
def test_it_finds_an_edited_state(story, state):
    for release in Release.objects.filter(dataset=story).exclude(state=state):
        Release.objects.filter(pk=release.pk).update(state=state)
        report = verify(story)
        assert f"release {release.pk}: its state" in report.problem
        assert (
            report.first_bad_sequence == events(story).filter(release=release.pk).latest("sequence").sequence
        )
        Release.objects.filter(pk=release.pk).update(state=release.state)
    assert verify(story).ok


@pytest.mark.parametrize(
    ("column", "value"),
    [("epsilon", "1/2"), ("resolution", 8), ("mechanism", "x"), ("question", "b" * 64), ("guarantee", {})],
)
def test_it_finds_an_edited_question(story, column, value):
    release = Release.objects.filter(dataset=story).latest("requested_at")
    Release.objects.filter(pk=release.pk).update(**{column: value})
    assert f"release {release.pk}: its question" in verify(story).problem


@pytest.mark.parametrize("text", ["2/2", "1", "one", "1/0"])
def test_it_finds_an_edited_question_of_the_same_worth(story, text):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE heatmaps_release SET epsilon = %s", [text])
    assert f"a release: {text!r} is no fraction" in verify(story).problem


def test_it_finds_another_version_under_a_release(story, add_version):
    version = add_version(story)
    Release.objects.filter(dataset=story, state="published").update(version=version)
    assert "its question was changed" in verify(story).problem


def test_it_finds_edited_and_missing_charges(story):
    charge = Charge.objects.filter(release__dataset=story, account__kind="presence").first()
    Charge.objects.filter(pk=charge.pk).update(amount=1)
    assert f"release {charge.release_id}: its charges" in verify(story).problem
    charge.delete()
    assert f"release {charge.release_id}: its charges" in verify(story).problem


def test_it_finds_a_missing_release_and_one_too_many(story, new_release):
    extra = new_release(story)
    extra.save()
    assert verify(story).problem == f"release {extra.pk}: no event made it"
    extra.delete()
    published = Release.objects.get(dataset=story, state="published")
    Result.objects.all().delete()
    Charge.objects.filter(release=published).delete()
    published.delete()
    assert "its row is missing" in verify(story).problem


@pytest.mark.parametrize("change", [{"content": b"mop"}, {"sha256": hashlib.sha256(b"mop").hexdigest()}])
def test_it_finds_an_edited_result(story, change):
    Result.objects.update(**change)
    assert "its result" in verify(story).problem


def test_it_finds_a_result_exchanged_together_with_its_digest(story):
    Result.objects.update(content=b"mop", sha256=hashlib.sha256(b"mop").hexdigest())
    assert "its result" in verify(story).problem


def test_it_finds_a_missing_result_and_one_too_many(story):
    told = Result.objects.get().release_id
    queued = Release.objects.filter(dataset=story, state="reserved").get()
    extra = Result.objects.create(release=queued, content=b"x", sha256=hashlib.sha256(b"x").hexdigest())
    assert f"release {queued.pk}: its result" in verify(story).problem
    extra.delete()
    Result.objects.all().delete()
    assert f"release {told}: its result" in verify(story).problem


def test_it_finds_versions_that_no_event_made(story):
    extra = DataVersion.objects.create(dataset=story, number=2, created_by=story.created_by)
    assert "data versions" in verify(story).problem
    extra.delete()
    step = {"before": {"version": 1}, "after": {"version": 2}}
    transitions.record(story, "version", actor=None, **step)
    assert "data versions" in verify(story).problem
    transitions.record(story, "version", actor=None, **step)
    assert verify(story).first_bad_sequence == 14


@pytest.mark.parametrize(("column", "value"), [("west", -98.4), ("north", 31.0000001)])
def test_it_finds_a_dataset_whose_facts_were_changed(story, column, value):
    Dataset.objects.filter(pk=story.pk).update(**{column: value})
    assert verify(story).problem == f"the dataset's {column} was changed after the ledger was opened"


@pytest.mark.parametrize(("column", "value"), [("persons", 51), ("radius_m", 600)])
def test_it_finds_changed_facts_under_replace(make_dataset, column, value):
    dataset = make_dataset(relation=Relation.REPLACE)
    assert verify(dataset).ok
    Dataset.objects.filter(pk=dataset.pk).update(**{column: value})
    assert f"the dataset's {column}" in verify(dataset).problem


def test_it_finds_a_ledger_without_its_row(story):
    Ledger.objects.filter(dataset=story).delete()
    assert "row is missing" in verify(story).problem


def test_the_command_names_the_bad_row_and_fails(story, make_dataset):
    make_dataset("other")
    out = StringIO()
    call_command("verify-ledger", stdout=out)
    assert out.getvalue() == "city: ok, 12 events\nother: ok, 2 events\n"
    events(story).filter(sequence=3).update(kind="spend")
    out = StringIO()
    with pytest.raises(CommandError, match="1 ledger does not verify"):
        call_command("verify-ledger", stdout=out)
    assert out.getvalue().startswith("city: BAD, event 3: the event was changed")
    call_command("verify-ledger", "other", stdout=StringIO())
    with pytest.raises(CommandError, match="no dataset is named nowhere"):
        call_command("verify-ledger", "nowhere")
