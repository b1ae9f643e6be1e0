"""Installations on SQLite and on PostgreSQL, copies of what was migrated once."""

import tempfile

import pytest

from tests.services.programs import roomy_memory


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def vendor(request):
    return request.param


@pytest.fixture
def installation(request, vendor, world, tmp_path):
    """A migrated, empty installation on the database of the test's parameter."""
    if vendor == "sqlite":
        # In memory, as PostgreSQL's: a killed process loses nothing by that, only a killed machine would.
        with tempfile.TemporaryDirectory(prefix="hazemap-sqlite-", dir=roomy_memory()) as folder:
            yield world.installation(folder)
        return
    yield world.installation(tmp_path, vendor)


@pytest.fixture(scope="session")
def granted(world, tmp_path_factory):
    """Returns an installation whose roles were granted, which tests share, and the name of its database."""
    made = world.installation(tmp_path_factory.mktemp("roles"), "postgresql", has_roles=True)
    return made, made.database


@pytest.fixture
def granted_alone(world, tmp_path):
    """Returns what `granted` does, empty: for a test that counts rows or names accounts."""
    made = world.installation(tmp_path, "postgresql", has_roles=True)
    return made, made.database
