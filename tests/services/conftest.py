"""Installations on SQLite and on PostgreSQL, copies of what was migrated once."""

import pytest


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
