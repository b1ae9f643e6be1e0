"""Moves of one ledger on PostgreSQL are let in in the order in which they came."""

import pytest

pytestmark = pytest.mark.postgres


@pytest.fixture
def made(migrated_postgres, postgres, tmp_path):
    template, name = migrated_postgres
    return template.copied_to(tmp_path / "state", postgres.url(postgres.new_database(name)))


def test_whoever_came_first_is_let_in_first(made):
    told = made.script("queueing")
    assert told["kinds"] == ["reserve", "spend", "reserve", "cancel", "note"]
    assert (told["releases"], told["problem"]) == (4, "")
