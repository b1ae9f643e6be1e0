"""What others than stewards can find out from a ledger: no moment, and no draw that runs now."""

import csv
import hashlib
import io
import json

import pytest

from heatmaps.ledger import transitions
from heatmaps.ledger.events import event_hash, genesis, hashed
from heatmaps.ledger.export import csv_lines, json_lines
from heatmaps.ledger.reading import events_for, shown_hash
from heatmaps.ledger.verification import verify
from heatmaps.models import Event
from tests.conftest import create_triggers, drop_triggers
from tests.services import draws

WINDOW = 2_000  # microseconds on each side of the true moment; the whole minute is only longer


@pytest.fixture
def drawn(dataset, reserve):
    """A dataset with a published release."""
    release = reserve(dataset)
    assert transitions.spend(release.pk)
    draws.publish(release.pk, b"map")
    return dataset


def searched(event, **known):
    """The moment of an event by trying all of them, with everything that others know of it."""
    for at in range(event.at_microseconds - WINDOW, event.at_microseconds + WINDOW):
        tried = Event(**known, at_microseconds=at)
        if event_hash(tried) == event.hash:
            return at
    return None


def known_of(event):
    names = ("dataset_id", "sequence", "actor_id", "kind", "release", "before", "after", "previous_hash")
    return {name: getattr(event, name) for name in names}


@pytest.mark.parametrize("kind", ["reserve", "spend", "publish"])
def test_it_gives_no_moment_away_to_who_searches_a_hash(drawn, kind):
    event = drawn.events.get(kind=kind)
    assert searched(event, **known_of(event)) is None
    # The search itself works: with the secret it finds the moment.
    assert searched(event, **known_of(event), salt=event.salt) == event.at_microseconds


def test_it_shows_no_hash_of_an_old_event_that_could_be_searched(drawn):
    event = drawn.events.get(kind="publish")
    event.salt = None
    event.hash = event_hash(event)
    assert searched(event, **known_of(event)) == event.at_microseconds
    assert shown_hash(event, sees_data=False) == ""
    assert shown_hash(event, sees_data=True) == event.hash


def test_it_verifies_chains_that_began_before_there_were_salts(dataset, reserve):
    drop_triggers()
    previous = genesis(dataset.pk)
    for event in dataset.events.order_by("sequence"):
        event.salt, event.previous_hash = None, previous
        event.hash = previous = event_hash(event)
        event.save()
    dataset.ledger.__class__.objects.filter(dataset=dataset).update(last_hash=previous)
    create_triggers()
    reserve(dataset)
    assert verify(dataset).ok
    assert [event.salt is None for event in dataset.events.order_by("sequence")] == [True, True, False]


def test_it_gives_each_event_a_secret_of_its_own(drawn):
    salts = set(drawn.events.values_list("salt", flat=True))
    assert len(salts) == drawn.events.count()
    assert all(len(salt) == 32 for salt in salts)


def test_it_exports_what_an_outside_program_can_recompute(drawn):
    rows = json.loads("".join(json_lines(events_for(drawn), sees_data=True)))
    previous = hashlib.sha256(f'{{"dataset":{drawn.pk}}}'.encode()).hexdigest()
    for row in rows:
        assert row["previous_hash"] == previous
        names = ("actor", "after", "at_microseconds", "before", "dataset", "kind", "previous_hash")
        covered = {name: row[name] for name in (*names, "release", "salt", "sequence")}
        text = json.dumps(covered, sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256(text.encode()).hexdigest()
        assert row["hash"] == previous
    drawn.ledger.refresh_from_db()
    assert (len(rows), previous) == (drawn.events.count(), drawn.ledger.last_hash)


@pytest.mark.parametrize("lines", [json_lines, csv_lines])
def test_it_exports_minutes_and_no_secret_to_others(drawn, lines):
    text = "".join(lines(events_for(drawn), sees_data=False))
    for event in drawn.events.all():
        assert event.salt not in text
        assert event.hash in text
    assert "at_microseconds" not in text


def test_it_exports_the_same_as_csv(drawn):
    events = events_for(drawn)
    rows = list(csv.DictReader(io.StringIO("".join(csv_lines(events, sees_data=True)), newline="")))
    for row, event in zip(rows, drawn.events.order_by("sequence"), strict=True):
        told = {name: str(value) for name, value in hashed(event).items()}
        assert {name: row[name] for name in told} == told


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\N{FULLWIDTH EQUALS SIGN}1+1"])
def test_it_writes_no_formula_into_a_csv(drawn, steward, name):
    steward.username = name
    steward.save()
    text = "".join(csv_lines(events_for(drawn), sees_data=False))
    cells = {cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row}
    assert f"'{name}" in cells
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in cells)


def test_it_exports_an_empty_ledger(dataset):
    nothing = Event.objects.none()
    assert json.loads("".join(json_lines(nothing, sees_data=True))) == []
