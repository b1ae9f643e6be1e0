"""Every test of the ingest runs on SQLite (a file, as in the product) and on PostgreSQL."""

import gzip
import io
import shutil
from datetime import UTC, datetime, timedelta

import dj_database_url
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections

from heatmaps import datasets
from heatmaps.broker import queue
from heatmaps.datasets import NewDataset
from heatmaps.ingest import uploads
from heatmaps.models import UserForm
from mechanisms.space.grid import Region

REGION = Region(2.0, 41.0, 3.0, 42.0)
START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
# For what is the same on both: once is enough.
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request, django_db_blocker):
    """A migrated database of the test's own, real commits included."""
    url = request.getfixturevalue(f"{request.param}_url")
    with django_db_blocker.unblock(), _default_database(url):
        yield url


@pytest.fixture
def sqlite_url(migrated_sqlite, tmp_path):
    return f"sqlite:///{shutil.copy(migrated_sqlite.folder / 'hazemap.sqlite3', tmp_path / 'test.sqlite3')}"


@pytest.fixture
def postgresql_url(postgres, migrated_postgres):
    _, template = migrated_postgres
    name = postgres.new_database(template)
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def state(settings, tmp_path):
    """The folder of all files; the product makes its sub-folders when it starts."""
    settings.STATE_DIR = tmp_path / "state"
    settings.KEY_DIR, settings.UPLOAD_DIR = settings.STATE_DIR / "keys", settings.STATE_DIR / "uploads"
    settings.REJECTED_DIR = settings.STATE_DIR / "rejected"
    for folder in (settings.STATE_DIR, settings.KEY_DIR, settings.UPLOAD_DIR):
        folder.mkdir()
    return settings.STATE_DIR


@pytest.fixture
def sent(monkeypatch):
    """What was sent to the workers: (task, ids)."""
    messages = []
    monkeypatch.setattr(queue, "_send", lambda task, ids: messages.append((task, ids)))
    return messages


@pytest.fixture
def clock(monkeypatch):
    """The moment it is for versions, files and schedules; `clock.now` may be moved."""

    class Clock:
        now = START

    monkeypatch.setattr("django.utils.timezone.now", lambda: Clock.now)
    return Clock


@pytest.fixture
def steward(database, state, sent):
    return User.objects.create_user("steward")


@pytest.fixture
def make_dataset(steward):
    def make(slug="harbour", relation="add_remove", **facts):
        limits = {"presence": "1"} if relation == "add_remove" else {"record": "1"}
        if relation == "replace":
            facts = {"persons": 100, "radius_m": 500} | facts
        new = NewDataset(slug=slug, title="A city", region=REGION, relation=relation, limits=limits, **facts)
        return datasets.create(steward, new)

    return make


@pytest.fixture
def dataset(make_dataset):
    return make_dataset()


@pytest.fixture
def receive(steward):
    """Send a file's content (text, bytes or rows) as the steward."""

    def send(dataset, content, name="file.csv", **options):
        return uploads.receive(steward, dataset, io.BytesIO(content_of(content)), name=name, **options)

    return send


@pytest.fixture
def upload(receive):
    """Send a file and read it to its end; the upload as it is then."""

    def send(dataset, content, **options):
        row = receive(dataset, content, **options)
        uploads.run(row.pk)
        row.refresh_from_db()
        return row

    return send


def row_of_before(row, *given, **facts):
    """A dataset's row as versions before made it, which knew no names of numbers (`datasets._row`)."""
    dataset = row(*given, **facts)
    dataset.user_form = UserForm.NFC
    return dataset


def content_of(content):
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    return csv_of(content).encode()


def csv_of(rows):
    """CSV text of rows (user, time, lat, lon)."""
    return "user,time,lat,lon\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def time_of(days_ago, *, at=START):
    """As a file has it."""
    return f"{at - timedelta(days=days_ago):%Y-%m-%dT%H:%M:%SZ}"


def zipped(content):
    return gzip.compress(content_of(content))


class _default_database:  # noqa: N801 - reads as a function
    """Django's default connection goes to `url` for a while."""

    def __init__(self, url):
        self._url = url

    def __enter__(self):
        self._settings, self._connection = connections.settings["default"], connections["default"]
        ours = dj_database_url.parse(self._url)
        ours["OPTIONS"] = {} if ours["ENGINE"].endswith("postgresql") else settings.SQLITE_OPTIONS
        connections.settings["default"] = self._settings | ours
        del connections["default"]

    def __exit__(self, *_error):
        connections["default"].close()
        connections.settings["default"] = self._settings
        connections["default"] = self._connection
