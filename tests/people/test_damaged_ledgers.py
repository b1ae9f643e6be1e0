"""A chain that was damaged is refused in words, can be closed by its operator, and disturbs no other one."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from heatmaps.ingest import row_copy, undoing, uploads
from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import LedgerClosed, LedgerDamaged
from heatmaps.ledger.verification import verify
from heatmaps.models import CheckIn, Event, Ledger, PackedCheckIns, Upload
from heatmaps.releases import publication
from tests.conftest import create_triggers, drop_triggers
from tests.services import seed

REASON = "Somebody wrote into its chain"


@pytest.fixture
def poison():
    """Puts an event with a wrong hash behind a dataset's last one, as before the database checked them."""

    def put(dataset, sequence=None):
        head = Ledger.objects.filter(pk=dataset.pk)
        last, last_hash = head.values_list("last_sequence", "last_hash").get()
        number = last + 1 if sequence is None else sequence
        drop_triggers()
        head.update(last_sequence=number - 1)  # what moves it looks where it is
        Event.objects.create(
            dataset=dataset,
            sequence=number,
            at_microseconds=1,
            kind="version",
            before="{}",
            after="{}",
            previous_hash=last_hash,
            hash="no hash",
        )
        head.update(last_sequence=last, last_hash=last_hash)
        create_triggers()
        return last + 1

    return put


def closed(dataset):
    out = StringIO()
    call_command("close-ledger", dataset.slug, "--reason", REASON, stdout=out)
    return out.getvalue()


def test_a_damaged_ledger_is_refused_in_words(client_of, published, dataset, poison):
    poison(dataset)
    steward = client_of("steward")
    answer = steward.post(reverse("release-publication", args=[published.pk]), {"public": "yes"})
    assert answer.status_code == 409
    assert "ledger of this dataset is damaged" in answer.content.decode()
    answer = steward.patch(
        reverse("api:release", args=[published.pk]), {"public": True}, content_type="application/json"
    )
    assert answer.status_code in (401, 403, 409)
    for page in ("dataset", "ledger", "dataset-budget"):
        assert steward.get(reverse(page, args=[dataset.slug])).status_code == 200


@pytest.fixture
def shown(steward, published):
    return publication.set_public(steward, published, public=True)


def test_what_is_queued_ends_without_a_result_and_keeps_its_charge(queued, dataset, poison):
    committed = dataset.accounts.get(kind="presence").committed
    assert committed
    poison(dataset)
    closed(dataset)
    queued.refresh_from_db()
    assert queued.state == "failed"
    assert dataset.accounts.get(kind="presence").committed == committed


def test_it_is_closed_whatever_its_rows_say(queued, dataset):
    """JSON holds numbers that Python does not read."""
    drop_triggers()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE heatmaps_release SET parameters = %s", [f"[{'9' * 5000}]"])
    create_triggers()
    assert verify(dataset).problem == "a row of it cannot be read"
    closed(dataset)
    assert verify(dataset).closed
    assert set(dataset.releases.values_list("state", flat=True)) <= {"failed", "published"}


def test_it_is_closed_by_an_event(client_of, shown, dataset, poison):
    bad = poison(dataset)
    poison(dataset, sequence=2**63 - 1)  # no place behind it
    with pytest.raises(LedgerDamaged):
        transitions.record(dataset, "resumed", actor=None, before={}, after={})

    told = closed(dataset)

    report = verify(dataset)
    assert (report.ok, report.closed) == (False, True)
    event = dataset.events.get(kind="close")
    assert f"closed by event {event.sequence}" in told
    expected = f'{{"first_bad":{bad},"last_unverified":{bad},"reason":"{REASON}"}}'
    assert event.after == expected
    assert not publication.is_public(shown.pk)
    assert not Upload.objects.filter(dataset=dataset, state="ready", version=None).exists()
    with pytest.raises(LedgerClosed):
        transitions.record(dataset, "resumed", actor=None, before={}, after={})
    answer = client_of("steward").post(reverse("release-publication", args=[shown.pk]), {"public": "yes"})
    assert (answer.status_code, "closed for good" in answer.content.decode()) == (409, True)
    auditors = client_of("auditor").get(reverse("ledger", args=[dataset.slug])).content.decode()
    assert REASON in auditors


def test_other_datasets_go_on_and_are_told_apart(make_dataset, dataset, poison):
    other = make_dataset("other")
    poison(dataset)
    closed(dataset)
    event = dataset.events.get(kind="close")
    transitions.record(other, "resumed", actor=None, before={}, after={})
    out = StringIO()
    call_command("verify-ledger", stdout=out)
    assert f"city: CLOSED, event {event.sequence}: closed for good" in out.getvalue()
    assert "other: ok" in out.getvalue()


def test_only_what_does_not_verify_is_closed_and_once(dataset, poison):
    with pytest.raises(CommandError, match="this ledger verifies; nothing was closed"):
        closed(dataset)
    poison(dataset)
    with pytest.raises(CommandError, match="needs a reason"):
        call_command("close-ledger", dataset.slug, "--reason", " ")
    closed(dataset)
    with pytest.raises(CommandError, match="closed already"):
        closed(dataset)
    with pytest.raises(CommandError, match="no dataset"):
        call_command("close-ledger", "no-such", "--reason", REASON)


def test_an_edited_end_is_found(dataset, poison):
    poison(dataset)
    closed(dataset)
    drop_triggers()
    dataset.events.filter(kind="close").update(after="{}")
    report = verify(dataset)
    assert (report.ok, report.closed) == (False, False)
    with pytest.raises(CommandError, match="does not verify"):
        call_command("verify-ledger", stdout=StringIO())


def test_a_ledger_without_its_row_can_be_closed(dataset):
    Ledger.objects.filter(pk=dataset.pk).delete()
    closed(dataset)
    assert verify(dataset).closed
    assert_nothing_is_left(dataset)


def assert_nothing_is_left(dataset):
    """Once workers have carried out what the sweep sends."""
    for upload in undoing.unfinished():
        uploads.run(upload)
    assert not CheckIn.objects.filter(extent__upload__dataset=dataset).exists()
    assert not PackedCheckIns.objects.filter(upload__dataset=dataset).exists()


def test_check_ins_go_whether_or_not_a_version_has_them(dataset, make_dataset, poison, monkeypatch):
    """An upload that a version includes stays as the version was bound to it; others are undone."""
    monkeypatch.setattr(row_copy, "DELETE_ROWS", 50)
    included = dataset.uploads.get()
    columns = dict.fromkeys(("persons", "lengths", "cells", "times", "outside"), b"packed")
    PackedCheckIns.objects.create(upload=included, slot=0, **columns)
    waiting = Upload.objects.create(
        dataset=dataset,
        state="ready",
        uploaded_by=dataset.created_by,
        file_name="waiting.csv",
        size_bytes=1,
        content_digest="waiting",
        rows_accepted=1,
    )
    seed.store(waiting, [(1, 1, NO_TIME)])
    other = make_dataset("other")
    seed.add_checkins(other)
    kept = CheckIn.objects.filter(extent__upload__dataset=other).count()
    assert undoing.unfinished() == []

    poison(dataset)
    closed(dataset)

    assert set(undoing.unfinished()) == {included.pk, waiting.pk}
    assert_nothing_is_left(dataset)
    assert undoing.unfinished() == []
    for row in (included, waiting):
        row.refresh_from_db()
    assert (included.state, included.version.number, included.rows_expired) == ("ready", 1, 120)
    assert (waiting.state, waiting.rows_accepted, waiting.rows_expired) == ("undone", 0, 0)
    assert CheckIn.objects.filter(extent__upload__dataset=other).count() == kept
