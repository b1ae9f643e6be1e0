"""Installations on SQLite and on PostgreSQL, migrated once."""

import pytest

from tests.services.installation import Installation


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory):
    made = Installation(folder=tmp_path_factory.mktemp("sqlite"))
    made.manage("migrate", "--verbosity", "0")
    return made


@pytest.fixture(scope="session")
def migrated_postgres(tmp_path_factory, postgres):
    name = postgres.new_database()
    made = Installation(folder=tmp_path_factory.mktemp("postgres"), database_url=postgres.url(name))
    made.manage("migrate", "--verbosity", "0")
    return made, name


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def vendor(request):
    return request.param


@pytest.fixture
def installation(request, vendor, tmp_path):
    """A migrated, empty installation on the database of the test's parameter."""
    if vendor == "sqlite":
        return request.getfixturevalue("migrated_sqlite").copied_to(tmp_path / "state")
    postgres = request.getfixturevalue("postgres")
    template, name = request.getfixturevalue("migrated_postgres")
    return template.copied_to(tmp_path / "state", postgres.url(postgres.new_database(name)))
