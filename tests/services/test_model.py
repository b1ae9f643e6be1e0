"""Random lives of releases against a model of plain integers, a few on SQLite, 300 on PostgreSQL."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.services.installation import ROOT

EVENTS = {"open", "version", "reserve", "spend", "publish", "fail", "cancel", "limit", "allowance"} | {
    "late",
    "postpone",
    "lose",
    "restored",
    "confirmed",
}
REFUSED = {"BudgetExceeded", "AllowanceExceeded", "IdempotencyConflict"}
ENDS = ("published", "failed", "cancelled")


def lived(installation, sequences, first=0, *rights):
    run = subprocess.run(
        [sys.executable, "-m", "tests.services.model", str(sequences), str(first), *rights],
        env=installation.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.mark.parametrize("vendor", ["sqlite"], indirect=True)
def test_releases_live_as_the_model_says(installation):
    told = lived(installation, 60)
    assert told["sequences"] == 60
    # Everything that can happen did.
    assert all(told[f"event {kind}"] for kind in EVENTS)
    assert all(told.get(name) for name in REFUSED)
    assert all(told[state] for state in ENDS)


@pytest.mark.long
@pytest.mark.postgres
def test_random_lives_of_web_workers_and_clock_are_as_the_model_says(world, tmp_path):
    made = [world.installation(tmp_path / half, "postgresql", has_roles=True) for half in ("one", "other")]
    with ThreadPoolExecutor(2) as halves:
        told = list(halves.map(lambda half: lived(made[half], 150, 1000 * (half + 1), "roles"), range(2)))
    assert sum(half["sequences"] for half in told) == 300
    assert all(half[f"event {kind}"] > 15 for half in told for kind in EVENTS)
    assert all(half[name] > 2 for half in told for name in REFUSED)
    assert all(half[state] for half in told for state in ENDS)
