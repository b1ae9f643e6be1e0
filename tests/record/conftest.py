"""Real commits on both databases, a record of the test's own, and datasets with people."""

import pytest

from tests.ingest import conftest as ingest
from tests.releases import conftest as releases
from tests.services.programs import SQLITE_FIRST

for _name in ("sqlite_url", "postgresql_url"):
    globals()[_name] = getattr(ingest, _name)
for _name in ("steward", "analyst", "make_dataset", "add_checkins", "dataset", "ask", "no_broker"):
    globals()[_name] = getattr(releases, _name)


@pytest.fixture(params=SQLITE_FIRST)
def database(request, django_db_blocker):
    """A migrated database of the test's own; on PostgreSQL in the long suite."""
    url = request.getfixturevalue(f"{request.param}_url")
    with django_db_blocker.unblock(), ingest._default_database(url):
        yield url


@pytest.fixture
def db(database):
    """Real commits: an election is one."""


@pytest.fixture(autouse=True)
def record(settings, tmp_path):
    """The record's folder, which begins empty."""
    settings.RECORD_DIR = tmp_path / "record"
    return settings.RECORD_DIR
