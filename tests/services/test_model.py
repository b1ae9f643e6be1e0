"""Random lives of releases against a model of plain integers, on PostgreSQL (and a few on SQLite)."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.services.installation import ROOT

EVENTS = {"open", "version", "reserve", "spend", "publish", "fail", "cancel", "limit", "allowance"}
REFUSED = {"BudgetExceeded", "AllowanceExceeded", "IdempotencyConflict"}


def lived(installation, sequences, first=0):
    run = subprocess.run(
        [sys.executable, "-m", "tests.services.model", str(sequences), str(first)],
        env=installation.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


def test_releases_live_as_the_model_says(installation):
    told = lived(installation, 40)
    assert told["sequences"] == 40
    # Everything that can happen did.
    assert all(told[f"event {kind}"] for kind in EVENTS)
    assert all(told.get(name) for name in REFUSED)
    assert all(told[state] for state in ("published", "failed", "cancelled"))


@pytest.mark.long
@pytest.mark.postgres
def test_2000_random_lives_on_postgresql_are_as_the_model_says(migrated_postgres, postgres, tmp_path):
    template, name = migrated_postgres
    made = [
        template.copied_to(tmp_path / f"state-{half}", postgres.url(postgres.new_database(name)))
        for half in range(2)
    ]
    with ThreadPoolExecutor(2) as halves:
        told = list(halves.map(lambda half: lived(made[half], 1000, 1000 * (half + 1)), range(2)))
    assert sum(half["sequences"] for half in told) == 2000
    assert all(half[f"event {kind}"] > 100 for half in told for kind in EVENTS)
    assert all(half[name] > 20 for half in told for name in REFUSED)
