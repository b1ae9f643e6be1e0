"""A real Spark, tables in a folder that both see, and datasets that read them."""

import pytest
from django.contrib.auth.models import User

from tests.services.programs import found_or_skip
from tests.sources.lake import Lake
from tests.sources.spark import Spark


@pytest.fixture(scope="session")
def spark():
    """A safe Spark Connect server with two executors."""
    found_or_skip(Spark)
    with Spark.started() as server:
        yield server


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward", is_superuser=True)


@pytest.fixture
def lake(tmp_path, settings):
    """Tables in a folder, without a Spark."""
    made = Lake(tmp_path / "lake")
    settings.SOURCES_FILE = made.sources_file
    return made


@pytest.fixture
def live_lake(lake, spark):
    """The same, which Spark reads."""
    lake.server = spark
    lake.write()
    return lake


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Messages instead of a broker: (task, ids) in the order they were sent."""
    messages = []
    monkeypatch.setattr(
        "heatmaps.queue.current_app.send_task",
        lambda name, args, **_options: messages.append((name, *args)),
    )
    return messages
