"""Installations on SQLite and on PostgreSQL, copies of what was migrated once."""

import tempfile
from pathlib import Path

import pytest

from tests.services.programs import roomy_memory


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def vendor(request):
    return request.param


@pytest.fixture
def installation(request, vendor, tmp_path):
    """A migrated, empty installation on the database of the test's parameter."""
    if vendor == "sqlite":
        # In memory, as PostgreSQL's: a killed process loses nothing by that, only a killed machine would.
        with tempfile.TemporaryDirectory(prefix="hazemap-sqlite-", dir=roomy_memory()) as folder:
            yield request.getfixturevalue("migrated_sqlite").copied_to(Path(folder) / "state")
        return
    postgres = request.getfixturevalue("postgres")
    template, name = request.getfixturevalue("migrated_postgres")
    yield template.copied_to(tmp_path / "state", postgres.url(postgres.new_database(name)))


@pytest.fixture(scope="session")
def granted(postgres, migrated_postgres, tmp_path_factory):
    """Returns an installation whose roles were granted, which tests share, and the name of its database."""
    return _with_roles(postgres, migrated_postgres, tmp_path_factory.mktemp("roles"))


@pytest.fixture
def granted_alone(postgres, migrated_postgres, tmp_path):
    """Returns what `granted` does, empty: for a test that counts rows or names accounts."""
    return _with_roles(postgres, migrated_postgres, tmp_path)


def _with_roles(postgres, migrated_postgres, folder):
    migrated, template = migrated_postgres
    name = postgres.new_database(template)
    made = migrated.copied_to(folder / "state", postgres.url(name))
    made.manage("grant-roles")
    return made, name
