"""The whole ledger and release suites once more, on PostgreSQL."""

import os
import subprocess
import sys

import pytest

from tests.services.installation import ROOT

pytestmark = [pytest.mark.postgres]


def test_the_ledger_and_its_releases_hold_on_postgresql_too(postgres):
    suites = ["tests/ledger", "tests/releases", "tests/services/test_health.py"]
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-m",
            "not long",
            *suites,
        ],
        env=os.environ | {"TEST_DATABASE_URL": postgres.url("postgres")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:]
    assert "sqlite has no such statement" not in run.stdout
