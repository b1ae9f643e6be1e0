"""Whole suites once more, on PostgreSQL. (Those of ingest and of leases run on both databases anyway.)"""

import os
import subprocess
import sys

import pytest

from tests.services.installation import ROOT

pytestmark = [pytest.mark.postgres, pytest.mark.long]

# Of words, files and headers: they ask the database nothing that other pages, or tests/people, do not.
ALIKE_ANYWHERE = (
    *("answer_words", "answers", "embedding", "errors", "example_picture", "first_map", "fitting", "headers"),
    *("help", "kept_files", "live_quote", "measurements", "metres", "names", "new_maps", "numbers_shown"),
    *("places", "planner", "policy", "promise", "starts", "streets", "word_counts", "wording"),
)


def passed(postgres, *suites, seconds):
    """The tests of some folders and files that are not long, each in a transaction on that server."""
    files = [f"tests/pages/test_{name}.py" for name in ALIKE_ANYWHERE]
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


@pytest.mark.parametrize("suite", ["tests/api", "tests/pages", "tests/people", "tests/attacks"])
def test_the_api_and_the_pages_answer_alike_on_postgresql(postgres, suite):
    passed(postgres, suite, seconds=1500)
