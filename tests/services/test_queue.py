"""Moves of one ledger on PostgreSQL are let in in the order in which they came."""

import pytest

pytestmark = pytest.mark.postgres


def test_whoever_came_first_is_let_in_first(world, tmp_path):
    told = world.installation(tmp_path, "postgresql").script("queueing")
    assert told["kinds"] == ["reserve", "spend", "reserve", "cancel", "note"]
    assert (told["releases"], told["problem"]) == (4, "")
