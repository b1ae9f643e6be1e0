"""A real Spark, tables in a folder that both see, and datasets that read them."""

import warnings
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ingest.versions import surveys
from heatmaps.releases import clock as moments
from heatmaps.releases import lifecycle
from heatmaps.sources import engine, looks
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from tests.services import seed
from tests.services.programs import found_or_skip
from tests.sources.lake import Lake
from tests.sources.moments import LEASE, REQUEST, SLOT
from tests.sources.reading import Reading
from tests.sources.spark import Spark

NOON = pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)] * 2, pa.timestamp("us", tz="UTC"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory, testrun_uid):
    """A safe Spark Connect server with two executors, of all workers of this run."""
    found_or_skip(Spark)
    folder = tmp_path_factory.getbasetemp().parent / f"spark-{testrun_uid}"
    folder.mkdir(exist_ok=True)
    with Spark.shared(folder) as server:
        yield server


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward", is_superuser=True)


@pytest.fixture
def lake(tmp_path, settings, monkeypatch):
    """Tables in a folder, without a Spark."""
    monkeypatch.setattr(looks, "LONGEST_SECONDS", 60)  # the machine may be busy with other tests
    made = Lake(tmp_path / "lake")
    settings.SOURCES_FILE = made.sources_file
    return made


@pytest.fixture
def live_lake(lake, spark, monkeypatch):
    """The same, which Spark reads."""
    lake.server = spark
    lake.write()
    for name in ("ask", "_view"):
        monkeypatch.setattr(engine.LakeSession, name, asked_again(getattr(engine.LakeSession, name)))
    return lake


def asked_again(ask):
    """Up to three times in all, as a release asks a Spark whose connection broke: busy machines cut some."""

    def asking(*arguments):
        for _ in range(2):
            try:
                return ask(*arguments)
            except engine.QuestionFailed as error:
                if str(error) != "SparkConnectGrpcException":  # Spark itself found something wrong
                    raise
                warnings.warn(f"asked again after: {error.__context__}", stacklevel=2)
        return ask(*arguments)

    return asking


@pytest.fixture(autouse=True)
def no_broker(sent):
    """What is sent goes nowhere."""


@pytest.fixture
def reading(monkeypatch, lake):
    """The tables hold two check-ins, and a test says what reading them answers."""
    lake.put(pa.table({"user": ["a", "b"], "lat": [30.0, 30.0], "lon": [-98.0, -98.0], "time": NOON}))
    stand_in = Reading()
    monkeypatch.setattr("heatmaps.sources.lake", stand_in.session)
    return stand_in


@pytest.fixture
def clock(monkeypatch):
    """The product's clock stands still until it is moved."""
    at = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: at[0])

    def move(to):
        at[0] = at[0] + to if isinstance(to, timedelta) else to
        return at[0]

    return move


@pytest.fixture
def make_dataset(steward):
    """A dataset that reads the lake."""

    def make(slug="city", relation=Relation.ADD_REMOVE, **facts):
        region = Region(-98.3, 29.8, -97.3, 31.0)
        return seed.make_dataset(steward, slug, relation, region=region, source="trips", **facts)

    return make


@pytest.fixture
def slots(settings):
    settings.SOURCE_SLOT_SECONDS, settings.LEASE_SECONDS = SLOT.total_seconds(), LEASE.total_seconds()


@pytest.fixture
def make_surveyed(slots, reading, clock, make_dataset, steward):
    """A dataset with a version, where a slot of a lake is `SLOT` long."""

    def make(slug="city"):
        dataset = make_dataset(slug)
        surveys.advance_by(steward, dataset)
        surveys.run(dataset.pk)
        clock(SLOT)
        moments.tick()
        assert dataset.versions.exists()
        return dataset

    return make


@pytest.fixture
def reserved(make_surveyed, steward):
    return lifecycle.request_release(steward, make_surveyed(), REQUEST)


@pytest.fixture
def spent(reserved, clock, sent):
    """At the moment it begins."""
    clock(reserved.starts_at)
    moments.tick()
    reserved.refresh_from_db()
    assert reserved.state == "spent"
    assert sent[-1] == (queue.SOURCE_RELEASE, str(reserved.pk))
    return reserved
