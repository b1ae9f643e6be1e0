"""What falls in a browser runs once more, alone; nothing else does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import flaky
from tests.services.installation import ROOT

# Those that the command line names: loading the others takes seconds.
PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin,pytest_timeout"}
# Fails until it has run as often as its file says.
UNSTEADY = """
from pathlib import Path

def test_unsteady():
    runs = Path(__file__).with_suffix(".runs")
    count = int(runs.read_text()) + 1 if runs.exists() else 1
    runs.write_text(str(count))
    assert count >= {passes_at}
"""


class Suite:
    """A folder with tests of its own, and what `tests.flaky` makes of them."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")

    def add(self, path, *, passes_at):
        """Adds a test that fails in each run before the one of that number."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(UNSTEADY.format(passes_at=passes_at))

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)

    def run(self, *arguments):
        command = [sys.executable, ROOT / "tests" / "flaky.py", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *(arguments or ["tests"])],
            cwd=self.folder,
            env=os.environ | PLUGINS,
            capture_output=True,
            text=True,
            check=False,
        )

    def runs_of(self, path):
        return int((self.folder / path).with_suffix(".runs").read_text())

    @property
    def named(self):
        return flaky.lines(self.folder / flaky.NAMED)


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path)


def name_of(path):
    return f"{path}::test_unsteady"


@pytest.mark.parametrize("processes", ["0", "2"])
def test_what_passes_alone_is_named_flaky(suite, processes):
    path = "tests/browser/test_page.py"
    suite.add(path, passes_at=2)
    run = suite.run("-n", processes, "tests")
    assert run.returncode == 0, run.stdout
    assert f"flaky: {name_of(path)}" in run.stdout
    assert (suite.named, suite.runs_of(path)) == ([name_of(path)], 2)


def test_what_fails_alone_too_fails(suite):
    path = "tests/browser/test_page.py"
    suite.add(path, passes_at=3)
    run = suite.run()
    assert run.returncode == 1
    assert f"{name_of(path)} failed alone too" in run.stdout
    assert (suite.named, suite.runs_of(path)) == ([], 2)


@pytest.mark.parametrize("folder", ["ledger", "services", "browsers", "mechanisms"])
def test_nothing_else_runs_twice(suite, folder):
    """Nor does a browser's test that fell beside it."""
    elsewhere, browser = f"tests/{folder}/test_other.py", "tests/browser/test_page.py"
    suite.add(elsewhere, passes_at=2)
    suite.add(browser, passes_at=2)
    run = suite.run()
    assert run.returncode == 1
    assert f"{name_of(elsewhere)} is not in tests/browser/" in run.stdout
    assert (suite.runs_of(elsewhere), suite.runs_of(browser), suite.named) == (1, 1, [])


def test_two_of_a_run_may_be_flaky_over_all_its_suites(suite):
    paths = [f"tests/browser/test_{number}.py" for number in range(3)]
    for path in paths:
        suite.add(path, passes_at=2)
    assert [suite.run(path).returncode for path in paths] == [0, 0, 1]
    assert suite.named == [name_of(path) for path in paths[:2]]
    assert [suite.runs_of(path) for path in paths] == [2, 2, 1]


@pytest.mark.parametrize("before", flaky.BEFORE, ids=str)
def test_what_was_flaky_in_the_run_before_runs_once(suite, before):
    path = "tests/browser/test_page.py"
    suite.add(path, passes_at=2)
    suite.write(before, f"{name_of(path)}\n")
    run = suite.run()
    assert run.returncode == 1
    assert f"{name_of(path)} was flaky in the run before" in run.stdout
    assert suite.runs_of(path) == 1


@pytest.mark.parametrize(
    "text", ["import nothing_of_that_name", "import pytest\n\ndef test_stop():\n    pytest.exit('stop')"]
)
def test_a_run_without_an_end_fails(suite, text):
    """What follows a file that cannot be collected, or a stop, was not tested."""
    suite.add("tests/browser/test_page.py", passes_at=2)
    suite.write("tests/browser/test_stopping.py", f"{text}\n")
    assert suite.run().returncode != 0
    assert suite.named == []


@pytest.mark.parametrize("failures", [{"tests": []}, {"files": ["tests/browser/test_page.py"]}])
def test_failures_that_no_test_explains_stand(failures):
    outcome = flaky.Failures()
    outcome.tests = failures.get("tests", ["tests/browser/test_page.py::test_it"])
    outcome.files = failures.get("files", [])
    assert flaky.refusal(outcome, named=[], before=set()) == "pytest did not reach its end"


def test_a_passing_run_names_nothing(suite):
    suite.add("tests/browser/test_page.py", passes_at=1)
    run = suite.run()
    assert (run.returncode, suite.named, "flaky" in run.stdout) == (0, [], False)


def test_ci_keeps_what_the_run_before_named():
    """`.ci/run` moves the file of the run before out of the way, once, before its first suite."""
    script = (ROOT / ".ci" / "run").read_text()
    moved = f"mv {flaky.NAMED} {flaky.BEFORE[0]}"
    assert script.count(moved) == 1
    assert script.index(moved) < script.index("make test SECOND_RUN=1")
    assert "make test-long SECOND_RUN=1" in script
    assert (ROOT / flaky.BEFORE[1]).is_file()
    assert all(Path(name.split("::")[0]).is_file() for name in flaky.lines(ROOT / flaky.BEFORE[1]))
