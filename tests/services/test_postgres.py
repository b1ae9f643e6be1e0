"""Whole suites once more, on PostgreSQL. (Those of ingest and of leases run on both databases anyway.)"""

import os
import subprocess
import sys

import pytest

from tests.services.installation import ROOT

pytestmark = [pytest.mark.postgres, pytest.mark.long]

# Pages whose queries, sorting or locks are their own. The others ask for what these, or tests/api, ask for.
PAGES = (
    *("access", "admin", "admin_lookups", "allowances", "attempts", "budget_history", "comparison", "guides"),
    *("home", "ledger", "matrix", "public_maps", "releases", "secrecy", "uploads"),
)
# Of words and numbers: they ask the database nothing that others do not.
ALIKE_ANYWHERE = ("document", "fitting", "metres", "plans", "readme", "words")


def passed(postgres, *suites, seconds):
    """Runs the tests of some folders and files that are not long, each in a transaction on that server.

    Without those that ask no database, or one of their own: they end as in the other suite.
    """
    files = [f"tests/api/test_{name}.py" for name in ALIKE_ANYWHERE]
    assert all((ROOT / file).is_file() for file in files), "a file was renamed: pytest ignores it no more"
    ignored = [f"--ignore={file}" for file in files]
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long", "--show-capture=no"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, *ignored, *suites],
        env=os.environ | {"TEST_DATABASE_URL": postgres.url("postgres")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:]
    assert "sqlite has no such statement" not in run.stdout


def test_the_ledger_and_its_releases_hold_on_postgresql_too(postgres):
    passed(postgres, "tests/ledger", "tests/releases", "tests/services/test_health.py", seconds=900)


@pytest.mark.parametrize("suite", ["tests/api", "tests/people", "tests/attacks"])
def test_the_api_and_people_are_answered_alike_on_postgresql(postgres, suite):
    passed(postgres, suite, seconds=1500)


def test_the_pages_answer_alike_on_postgresql(postgres):
    passed(postgres, *(f"tests/pages/test_{name}.py" for name in PAGES), seconds=1500)
