"""A thousand requests of fifty analysts at once, from four processes, on PostgreSQL."""

import pytest

pytestmark = [pytest.mark.long, pytest.mark.postgres]

DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


def test_a_crowd_gets_exactly_what_the_budget_holds_and_nobody_waits_for_ever(world, tmp_path):
    made = world.installation(tmp_path, "postgresql")
    told = made.script("crowd", "requests", 1000, "0.5")
    assert told["outcomes"] == {"granted": 500, "refused": 500}
    assert told["releases"] == 500
    assert told["committed"] == 500 * 10**9
    assert told["problem"] == ""
    assert made.value(DEADLOCKS) == 0
