"""Moves of one ledger on PostgreSQL are let in in the order in which they came."""

import pytest

pytestmark = pytest.mark.postgres
BEFORE = "0014_packed_checkins"  # a reservation without the queue


@pytest.fixture
def made(migrated_postgres, postgres, tmp_path):
    template, name = migrated_postgres
    return template.copied_to(tmp_path / "state", postgres.url(postgres.new_database(name)))


def test_whoever_came_first_is_let_in_first(made):
    told = made.script("queueing", "moves")
    assert told["kinds"] == ["reserve", "spend", "reserve", "cancel", "note"]
    assert (told["releases"], told["problem"]) == (4, "")


@pytest.mark.long
def test_a_chain_goes_on_whichever_way_its_reservations_are_made(made):
    assert made.script("queueing", "reserve")["problem"] == ""
    made.manage("migrate", "heatmaps", BEFORE, "--verbosity", "0")
    made.manage("shell", "--command", RESERVE)
    made.manage("migrate", "--verbosity", "0")
    assert made.script("queueing", "reserve") == {"kinds": [], "releases": 3, "problem": ""}


RESERVE = """
from tests.services import queueing
queueing.reserve(queueing.Dataset.objects.get(slug=queueing.SLUG))
"""
