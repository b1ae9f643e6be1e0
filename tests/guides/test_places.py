"""Maps of the same place are found by the database, which reads no others. On SQLite and on PostgreSQL."""

import importlib
from datetime import timedelta
from fractions import Fraction

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.guides import choices
from heatmaps.models import Publication, Release
from heatmaps.regions import region_of, text_of
from mechanisms.space.grid import Region
from tests.ingest import conftest as ingest

for _name in ("database", "sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)

QUARTER = [0, 0, 0.5, 0.5]
LINES = 2**31


@pytest.fixture
def db(database):
    """A migrated database."""


@pytest.fixture
def publish_many(add_checkins):
    """Published maps straight in the tables, each a second newer than the one before."""

    def make(dataset, rectangles, *, is_public=True, **facts):
        version = dataset.versions.first() or add_checkins(dataset)
        now = timezone.now()
        plain = {"mechanism": "adaptive", "epsilon": Fraction(4), "resolution": 16, "state": "published"}
        made = Release.objects.bulk_create(
            Release(
                dataset=dataset,
                version=version,
                requested_by=dataset.created_by,
                guarantee={},
                question="q",
                expires_at=now,
                visible_at=now + timedelta(seconds=at),
                public_since=now if is_public else None,
                rectangle=edges,
                covered=text_of(DataSlice.stored(None, None, edges).region(region_of(dataset))),
                **(plain | facts),
            )
            for at, edges in enumerate(rectangles)
        )
        Publication.objects.bulk_create(
            Publication(release=release, sequence=1, is_public=True) for release in made if is_public
        )
        return made

    return make


@pytest.fixture
def read(monkeypatch):
    """What `fitting` finds, how many releases are read for it and how many queries that takes."""
    made, rows = Release.from_db.__func__, []

    def counted(cls, *row):
        rows.append(row)
        return made(cls, *row)

    monkeypatch.setattr(Release, "from_db", classmethod(counted))

    def make(dataset, data_slice=WHOLE):
        rows.clear()
        with CaptureQueriesContext(connection) as queries:
            found = choices.fitting(dataset, data_slice)
        return [chosen.id for chosen in found], len(rows), len(queries)

    return make


def test_it_reads_the_newest_of_the_same_place_alone(make_dataset, publish_many, read):
    city, other = make_dataset("city"), make_dataset("other")
    far = make_dataset("far", region=Region(0, 0, 1, 2))
    rest = [[0, 0, LINES // 2, LINES - at] for at in range(1, 40)]
    publish_many(city, rest, is_public=False)
    publish_many(other, rest)
    publish_many(far, [None] * 10)
    publish_many(other, [None] * 10, is_public=False)
    publish_many(other, [None] * 10, state="spent")
    publish_many(other, [None] * 10, mechanism="exponential")
    few = [*publish_many(city, [None] * 2, is_public=False), *publish_many(other, [None] * 2)]
    found, rows, queries = read(city)
    assert found == [few[1].pk, few[0].pk, few[3].pk, few[2].pk]
    assert rows == 4
    own, others = publish_many(city, [None] * 30, is_public=False), publish_many(other, [None] * 30)
    newest = [release.pk for rows in (own, others) for release in rows[: -1 - choices.MOST_OFFERED : -1]]
    assert read(city) == (newest, 2 * choices.MOST_OFFERED, queries)


def test_a_place_is_the_same_however_it_is_reached(make_dataset, publish_many, read):
    """As a whole region, or as a rectangle of a larger one."""
    quarter = make_dataset("quarter", region=Region(0, 0, 0.5, 0.5))
    city, small = make_dataset("city"), make_dataset("small", region=Region(-0.0, 0, 0.5, 0.5))
    part, whole = publish_many(city, [[0, 0, LINES // 2, LINES // 2]]), publish_many(small, [None])
    publish_many(city, [[0, 0, LINES // 2, LINES // 2 + 1]])
    assert set(read(quarter)[0]) == {part[0].pk, whole[0].pk}
    parts = DataSlice.parse(region_of(city), rectangle=QUARTER)
    assert read(city, parts)[:2] == ([part[0].pk, whole[0].pk], 2)


@pytest.mark.unguarded
def test_maps_of_before_are_told_their_places(make_dataset, publish_many):
    rectangles = [None, [0, 0, LINES // 2, LINES // 2], [1, 2, LINES // 3, LINES // 7]]
    for name, region in (("city", Region(-98.3, 29.8, -97.3, 31)), ("zero", Region(-0.0, 0, 0.7, 0.1))):
        publish_many(make_dataset(name, region=region), rectangles)
    places = dict(Release.objects.values_list("pk", "covered"))
    assert len(set(places.values())) == 6
    Release.objects.update(covered="")
    importlib.import_module("heatmaps.migrations.0015_place_of_a_release").give_places(apps, None)
    assert dict(Release.objects.values_list("pk", "covered")) == places


def test_a_release_that_is_asked_for_has_its_place(make_dataset, add_checkins, reserve):
    city = make_dataset("city")
    add_checkins(city)
    assert reserve(city).covered == "0.0,0.0,1.0,1.0"
    assert reserve(city, rectangle=QUARTER).covered == "0.0,0.0,0.5,0.5"
