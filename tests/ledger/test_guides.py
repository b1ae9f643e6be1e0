"""Whatever somebody with the database does to a map that guided another, verification says which it is.

On SQLite and on PostgreSQL; what is changed is taken back each time.
"""

import hashlib
import json

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from heatmaps.ledger import events, facts, transitions
from heatmaps.ledger.events import canonical
from heatmaps.ledger.verification import verify
from heatmaps.models import Dataset, Event, GuideFile, Ledger, Release, Result
from heatmaps.releases import publication
from mechanisms.guide import Guide
from tests.conftest import drop_triggers
from tests.guides import conftest as guides
from tests.ingest import conftest as ingest
from tests.services import seed
from tests.services.draws import carry_out

pytestmark = pytest.mark.unguarded

for _name in (
    *("steward", "analyst", "add_checkins", "no_broker", "ask", "make_dataset", "reserve", "publish"),
    "make_public",
):
    globals()[_name] = getattr(guides, _name)
for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

QUARTER = [0, 0, 0.5, 0.5]
OTHER = "1" * 64
NOT_YET = "was not there yet when it was reserved"
NOT_IT = "is not the map that was published"
CHANGED = "its question was changed"


@pytest.fixture
def db(database):
    """Real commits."""


class World:
    """A city with a guide file, a map that guided others, another dataset's map that did, and later ones."""

    def __init__(self, city, reserve, publish, make_public):
        self.city, self.file = city, GuideFile.objects.get(dataset=city)
        self.own, self.foreign = publish(city), make_public("other")
        self.queued, self.by_own = reserve(city, epsilon="2.5"), reserve(city, guide=str(self.own.pk))
        for release in (self.queued, self.by_own):
            carry_out(release.pk)
        self.by_foreign = publish(city, guide=str(self.foreign.pk))
        self.by_file = publish(city, guide=str(self.file.pk))
        publication.set_public(city.created_by, self.foreign, public=False)
        self.later, self.later_foreign = publish(city, epsilon="3"), make_public("later")


@pytest.fixture
def city(make_dataset, add_checkins, steward):
    made = make_dataset("city")
    file = seed.store_guide(steward, made)
    transitions.record(made, "guide", actor=steward, before={}, after=facts.guide_facts(file))
    add_checkins(made)
    return made


@pytest.fixture
def world(city, reserve, publish, make_public):
    drop_triggers()
    return World(city, reserve, publish, make_public)


def in_row(release, **changed):
    Release.objects.filter(pk=release.pk).update(**changed)


def in_event(kind, release=None, within=None, **changed):
    """What a careful forger does: other facts of an event, and hashes from there on that fit again."""
    event = Event.objects.get(kind=kind, **({} if release is None else {"release": release.pk}))
    after = json.loads(event.after)
    (after if within is None else after[within]).update(changed)
    Event.objects.filter(pk=event.pk).update(after=canonical(after))
    previous = event.previous_hash
    for later in Event.objects.filter(dataset=event.dataset, sequence__gte=event.sequence):
        later.previous_hash, later.hash = previous, ""
        later.hash = previous = events.event_hash(later)
        later.save()
    Ledger.objects.filter(dataset=event.dataset).update(last_hash=previous)


def reserved(release, guide, digest=None):
    """In row and event alike."""
    row = {"guide_release": None, "guide_file": None}
    row["guide_file" if isinstance(guide, GuideFile) else "guide_release"] = guide
    digest = digest or release.guide_sha256
    in_row(release, guide_sha256=digest, **row)
    in_event("reserve", release, "release", guide=str(guide.pk), guide_sha256=digest)


def other_shares(world, *, in_event_too):
    guide = Guide.of_values(np.eye(64))
    GuideFile.objects.update(shares=guide.shares.astype("<i8").tobytes(), sha256=guide.sha256)
    if in_event_too:
        in_event("guide", guide_sha256=guide.sha256)


def other_result(release, content):
    Result.objects.filter(pk=release.pk).update(content=content, sha256=hashlib.sha256(content).hexdigest())
    in_event("publish", release, sha256=hashlib.sha256(content).hexdigest())


# What is done, the release whose guide is meant, and what is said of it; of none: of all of the ledger.
DONE = {
    "another hash in the row": (lambda w: in_row(w.by_own, guide_sha256=OTHER), None, CHANGED),
    "a later map in the row": (lambda w: in_row(w.by_own, guide_release=w.later), None, CHANGED),
    "another hash": (
        lambda w: reserved(w.by_own, w.own, OTHER),
        "by_own",
        "has another hash than the one that was reserved",
    ),
    "another hash of another dataset's": (
        lambda w: reserved(w.by_foreign, w.foreign, OTHER),
        "by_foreign",
        "has another hash than the one that was reserved",
    ),
    "another hash of a file": (
        lambda w: reserved(w.by_file, w.file, OTHER),
        None,
        "the event's guide does not follow",
    ),
    "a later map": (lambda w: reserved(w.by_own, w.later), "by_own", NOT_YET),
    "a map that was queued": (lambda w: reserved(w.by_own, w.queued), "by_own", NOT_YET),
    "itself": (lambda w: reserved(w.by_own, w.by_own), "by_own", NOT_YET),
    "a map that was public later": (
        lambda w: reserved(w.by_foreign, w.later_foreign),
        "by_foreign",
        NOT_YET,
    ),
    "a file of no event": (
        lambda w: reserved(w.by_file, GuideFile.objects.create(**{**FILE, "dataset": w.foreign.dataset})),
        "by_file",
        NOT_YET,
    ),
    "shares": (lambda w: GuideFile.objects.update(shares=b"\0" * 2**15), None, "its shares were changed"),
    "shares and their hash": (lambda w: other_shares(w, in_event_too=False), None, "what its event says"),
    "shares, their hash and its event": (
        lambda w: other_shares(w, in_event_too=True),
        None,
        "the event's guide does not follow",
    ),
    "a map": (lambda w: Result.objects.filter(pk=w.own.pk).update(content=b"mop"), None, "its result"),
    "no map": (lambda w: Result.objects.filter(pk=w.own.pk).delete(), None, "its result"),
    "a map, its hash and its event": (lambda w: other_result(w.own, b"mop"), "by_own", NOT_IT),
    "another dataset's map": (
        lambda w: Result.objects.filter(pk=w.foreign.pk).update(content=b"mop"),
        "by_foreign",
        NOT_IT,
    ),
    "no map of another dataset": (
        lambda w: Result.objects.filter(pk=w.foreign.pk).delete(),
        "by_foreign",
        NOT_IT,
    ),
    "another dataset's map, its hash and its event": (
        lambda w: other_result(w.foreign, b"mop"),
        "by_foreign",
        NOT_IT,
    ),
    "an event of another dataset": (
        lambda w: Event.objects.filter(kind="publish", release=w.foreign.pk).update(after="{"),
        "by_foreign",
        NOT_IT,
    ),
    "no event that published another dataset's": (
        lambda w: Event.objects.filter(kind="publication", dataset=w.foreign.dataset).delete(),
        "by_foreign",
        NOT_YET,
    ),
    "another dataset's place": (
        lambda w: Dataset.objects.filter(pk=w.foreign.dataset_id).update(west=-1),
        "by_foreign",
        "covers another part of the world",
    ),
    "another dataset's rectangle": (
        lambda w: in_row(w.foreign, rectangle=[1, "x"]),
        "by_foreign",
        "has a rectangle that cannot be read",
    ),
}
FILE = {
    "title": "Roads",
    "source": "Hazel Institute",
    "file_sha256": OTHER,
    "shares": b"",
    "sha256": OTHER,
}


def test_it_finds_whatever_was_done_to_a_guide(world, publish, steward):
    publish(world.city, guide=str(world.own.pk), epsilon="3", since="2026-01-01")
    publish(world.city, guide=str(publish(world.city, rectangle=QUARTER).pk), rectangle=QUARTER)
    for dataset in Dataset.objects.all():
        assert verify(dataset).problem == ""
    FILE.update(stored_by=steward, stored_at=world.file.stored_at)
    for name, (done, of, told) in DONE.items():
        with transaction.atomic():
            done(world)
            report = verify(world.city)
            transaction.set_rollback(True)
        assert told in report.problem, (name, report.problem)
        if of is not None:
            release = getattr(world, of)
            assert report.problem.startswith(f"release {release.pk}: its guide "), (name, report.problem)
            event = Event.objects.get(release=release.pk, kind="reserve")
            assert report.first_bad_sequence == event.sequence, name
    assert verify(world.city).ok


def test_a_map_that_guided_many_is_read_once(world, publish):
    def count():
        with CaptureQueriesContext(connection) as found:
            assert verify(world.city).ok
        return sum('FROM "heatmaps_result"' in query["sql"] for query in found)

    before = count()
    for epsilon in ("2.5", "3.5"):
        publish(world.city, guide=str(world.own.pk), epsilon=epsilon)
        publish(world.city, guide=str(world.file.pk), epsilon=epsilon)
    assert count() == before
