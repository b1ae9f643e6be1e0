"""For every test: a database that may be emptied, and real services when their programs are installed."""

import functools
import gc
import os
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase
from hypothesis import settings

from heatmaps.ingest.formats import child_process
from heatmaps.migrations.tables_of_2026 import checked_events
from heatmaps.migrations.tables_of_2026.append_only import ELECTIONS, EVENTS, READS
from heatmaps.migrations.tables_of_2026.frozen_releases import FROZEN
from heatmaps.migrations.tables_of_2026.held_rows import EXTENTS, HELD
from tests import distribution, migrated
from tests.browser.chromium import Chromium
from tests.services.programs import Postgres, Redis, found_or_skip
from tests.services.world import World

FILLED_BY_MIGRATE = {"auth_permission", "django_content_type", "django_migrations"}
APPEND_ONLY = (EVENTS, READS, ELECTIONS, *FROZEN, *HELD, EXTENTS)

# A busy machine is no fault, and what passed once passes again.
settings.register_profile("tests", deadline=None, derandomize=True)
settings.load_profile("tests")


def flush(_case):
    """Append-only tables refuse to be emptied, also when a test run empties its own database."""
    drop_triggers()
    try:
        delete_rows()
    finally:
        create_triggers()


def delete_rows():
    """Empties all tables but those that `migrate` fills from the code: filling them again takes longest."""
    tables = sorted({*connection.introspection.table_names()} - FILLED_BY_MIGRATE)
    quoted = [connection.ops.quote_name(table) for table in tables]
    exist = " UNION ALL ".join(f"SELECT {n} WHERE EXISTS (SELECT 1 FROM {t})" for n, t in enumerate(quoted))
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")  # no checks row by row
        cursor.execute(exist)
        for (number,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {quoted[number]}")


TransactionTestCase._fixture_teardown = flush


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leaves tests and their modules out of searches for garbage: they are many, and live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


TESTS = Path(__file__).parent
LONG_WORDS = ("mark.long", "SQLITE_FIRST", "by_pairs")  # what makes a test long


@functools.cache
def says_long(path):
    """Returns whether a file, or the `conftest.py` of a folder that it is in, names what makes tests long."""
    folders = [folder for folder in path.parents if TESTS in folder.parents]
    sources = [path, *(folder / "conftest.py" for folder in folders)]
    return any(words in source.read_text() for source in sources if source.is_file() for words in LONG_WORDS)


@functools.cache
def is_long(path):
    """Returns whether all tests of a file are long."""
    return path.name.startswith("test_") and any(
        line.startswith("pytestmark = ") and "mark.long" in line for line in path.read_text().splitlines()
    )


def pytest_ignore_collect(collection_path, config):
    """Leaves files unread that `-m long` (most) or `-m "not long"` asks nothing of."""
    if config.option.markexpr == "long" and collection_path.name.startswith("test_"):
        return True if not says_long(collection_path) else None
    if config.option.markexpr == "not long" and collection_path.suffix == ".py":
        return True if is_long(collection_path) else None
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector, obj):
    """Leaves long tests out of `-m "not long"`: Schemathesis works out what it asks for while it collects."""
    item = yield
    marks = getattr(obj, "pytestmark", ())
    if collector.config.option.markexpr == "not long" and any(mark.name == "long" for mark in marks):
        return []
    return item


def asks_default_database(item):
    """Returns whether a test asks the database of the settings: not none, and none of its own."""
    fixtures, marks = set(item.fixturenames), {mark.name for mark in item.iter_markers()}
    return bool({"db", "transactional_db"} & fixtures or {"django_db", "unguarded"} & marks) and (
        "database" not in fixtures
    )


def name_by_operation(items):
    """Gives tests of Schemathesis the operation in their ids, too: of what shares an id xdist runs one."""
    for item in items:
        operation = getattr(item, "operation_label", None)
        if operation is not None and item.id.params is None:  # pytest 9.2 leaves it out
            item._id = item.id.with_params(operation)


def pytest_collection_modifyitems(config, items):
    """Puts first what takes longest. With TEST_DATABASE_URL only tests remain that can end otherwise by it.

    Raises `pytest.UsageError` for a long test that `make test-long` would not find.
    """
    name_by_operation(items)
    unread = {
        str(item.path) for item in items if item.get_closest_marker("long") and not says_long(item.path)
    }
    if unread:
        raise pytest.UsageError(f"no {' or '.join(LONG_WORDS)} in {', '.join(sorted(unread))}")
    if len({item.nodeid for item in items}) < len(items):
        raise pytest.UsageError("several tests share an id, of which xdist would run one")
    if os.environ.get("TEST_DATABASE_URL"):
        config.hook.pytest_deselected(items=[item for item in items if not asks_default_database(item)])
        items[:] = filter(asks_default_database, items)
    items.sort(key=lambda item: distribution.place(item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.option.dist == "loadfile":
        return distribution.LongestFirst(config, log)
    return None


def drop_triggers():
    """Rows of append-only tables can be changed, and events need not follow; each still moves the head."""
    run_statements(statement for table in APPEND_ONLY for statement in table.dropping(connection.vendor))
    run_statements(checked_events.dropping_checks(connection.vendor))


def create_triggers():
    run_statements(statement for table in APPEND_ONLY for statement in table.creating(connection.vendor))
    run_statements(checked_events.creating_checks(connection.vendor))


def run_statements(statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture(autouse=True)
def unguarded(request):
    """Somebody who may drop triggers: a test so marked changes what was paid for, to see who notices."""
    if not request.node.get_closest_marker("unguarded"):
        return
    request.getfixturevalue("db")
    run_statements(statement for table in FROZEN for statement in table.dropping(connection.vendor))


@pytest.fixture(autouse=True)
def read_here(request, monkeypatch):
    """What a child would read, without the time that it takes to start."""
    if "children" not in request.keywords:
        monkeypatch.setattr(child_process, "batches", batches_here)


def batches_here(stream, *how, **options):
    return import_module(child_process.module_for(stream)).batches(stream, *how, **options)


@pytest.fixture
def sent(monkeypatch):
    """Messages instead of a broker: (task, ids) in the order they were sent."""
    messages = []
    monkeypatch.setattr(
        "heatmaps.config.celery.app.send_task",
        lambda name, args, **_options: messages.append((name, *args)),
    )
    return messages


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A PostgreSQL server of our own on a free port."""
    found_or_skip(Postgres)
    with Postgres.started(in_memory=True) as server:
        yield server


@pytest.fixture(scope="session")
def migrated_sqlite(pytestconfig, tmp_path_factory):
    """An installation to copy: migrating takes seconds."""
    return migrated.installation(pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix, request):
    """Fills SQLite's database of the tests from what was migrated once; Django then finds nothing to do."""
    if connection.vendor != "sqlite":
        yield
        return
    creation = connection.creation
    create, connections = creation._create_test_db, []

    def create_filled(*arguments, **options):
        name = create(*arguments, **options)
        connections.append(migrated.fill(name, request.getfixturevalue("migrated_sqlite")))
        return name

    creation._create_test_db = create_filled
    yield
    for each in connections:
        each.close()


@pytest.fixture(scope="session")
def migrated_postgres(pytestconfig, tmp_path_factory, postgres):
    """The same on PostgreSQL, and the name of its database, which is a template."""
    return migrated.installation_on(postgres, pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def world(request):
    """Makes installations and deployments for tests of services."""
    return World(request.getfixturevalue)


@pytest.fixture
def redis(tmp_path):
    """A Redis server of our own on a free port, empty."""
    found_or_skip(Redis)
    with Redis.started() as server:
        yield server


@pytest.fixture(scope="module")
def chromium():
    """Not for the session: its event loop would still run under later tests, and Django refuses that."""
    found_or_skip(Chromium)
    with Chromium.started() as browser:
        yield browser
