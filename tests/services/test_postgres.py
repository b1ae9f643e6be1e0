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
# They ask the database nothing that others do not: of words, numbers and files, of providers and keys.
ALIKE_ANYWHERE = {
    "api": (
        *("blurred", "districts", "document", "embedding", "fitting", "guides", "metres", "names", "plans"),
        *("points", "quote_limits", "readme", "totals", "words"),
    ),
    "api/gis": ("access", "tiles"),
    "people": (
        *("embedding", "mails", "names", "passkeys", "provider_links", "provider_requests"),
        "sign_in_provider",
    ),
}


@pytest.fixture
def passed(postgres, migrated_postgres):
    """Runs the tests of some folders and files that are not long, each in a transaction on that server.

    Without those that ask no database, or one of their own: they end as in the other suite. Their database
    is a copy of one that was migrated.
    """
    _, template = migrated_postgres
    database = {"TEST_DATABASE_URL": postgres.url("postgres"), "TEST_DATABASE_TEMPLATE": template}

    def run(*suites, seconds):
        run_again(suites, database, seconds)

    return run


def run_again(suites, database, seconds):
    files = [f"tests/{folder}/test_{name}.py" for folder in ALIKE_ANYWHERE for name in ALIKE_ANYWHERE[folder]]
    assert all((ROOT / file).is_file() for file in files), "a file was renamed: pytest ignores it no more"
    ignored = [f"--ignore={file}" for file in files]
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long", "--show-capture=no"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, *ignored, *suites],
        env=os.environ | database,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:]
    assert "sqlite has no such statement" not in run.stdout


def test_the_ledger_and_its_releases_hold_on_postgresql_too(passed):
    passed("tests/ledger", "tests/releases", "tests/services/test_health.py", seconds=900)


@pytest.mark.parametrize("suites", [["tests/api"], ["tests/people", "tests/attacks"]], ids=["api", "people"])
def test_the_api_and_people_are_answered_alike_on_postgresql(passed, suites):
    passed(*suites, seconds=1500)


def test_the_pages_answer_alike_on_postgresql(passed):
    passed(*(f"tests/pages/test_{name}.py" for name in PAGES), seconds=1500)
