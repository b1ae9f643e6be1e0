"""Workers at the same moment, on PostgreSQL: one looks, one reads, one draws."""

import json

import pytest

pytestmark = [pytest.mark.postgres]


def test_one_of_many_workers_is_elected(world, tmp_path):
    made = world.installation(tmp_path, "postgresql")
    outcome = made.python("-m", "tests.services.lake_race", 6, tmp_path / "lake").stdout.splitlines()[-1]
    assert json.loads(outcome) == {
        "looking": 1,
        "attempts": 1,
        "told": [],
        "versions": 1,
        "states": 1,
        "reading": True,
        "drawing": [True],
        "drawings": 1,
        "waits_for_enrolments": False,
    }
