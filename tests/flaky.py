"""pytest for `.ci/run` (`make test SECOND_RUN=1`): runs what fell in `tests/browser` once more, alone.

A browser on a busy machine falls by chance more often than the pages it shows. A test that passes alone is
named flaky, in the output and in `build/flaky.txt`, and the run passes. At most two tests of a run may be
flaky, over both suites, and none that was so in the run before: those stand in `build/flaky-before.txt`,
where that run was in the same checkout, and in `.ci/flaky.txt`, which whoever lands a flaky run commits.
Nothing else ever runs twice.
"""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = "tests/browser/"
MOST = 2
NAMED = Path("build/flaky.txt")
BEFORE = (Path("build/flaky-before.txt"), Path(".ci/flaky.txt"))


class Failures:
    """A plugin of pytest: the node ids of tests that failed, and of files that could not be collected."""

    def __init__(self):
        self.tests, self.files = [], []

    def pytest_runtest_logreport(self, report):
        if report.failed and report.nodeid not in self.tests:
            self.tests.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.files.append(report.nodeid)


def main(arguments):
    """Returns pytest's exit code; 0 if only flaky tests failed."""
    failures = Failures()
    code = int(pytest.main(arguments, plugins=[failures]))
    if code != pytest.ExitCode.TESTS_FAILED:
        return code
    named = lines(NAMED)
    before = {name for path in BEFORE for name in lines(path)}
    reason = refusal(failures, named=named, before=before)
    if not reason:
        reason = second_run(failures.tests)
    if reason:
        print(f"No second run excuses this one: {reason}", flush=True)
        return code
    NAMED.parent.mkdir(exist_ok=True)
    NAMED.write_text("".join(f"{name}\n" for name in [*named, *failures.tests]))
    for name in failures.tests:
        print(f"flaky: {name}")
    print(
        f"Mend them: a run in which one of them falls again fails. Commit {NAMED} as {BEFORE[-1]}.",
        flush=True,
    )
    return 0


def refusal(failures, *, named, before):
    """Returns why failures stand without a second run; "" if there may be one.

    `named`: tests that were flaky earlier in this run; `before`: those of the run before.
    """
    if failures.files or not failures.tests:
        return "pytest did not reach its end"
    elsewhere = [name for name in failures.tests if not name.startswith(FOLDER)]
    if elsewhere:
        return f"{elsewhere[0]} is not in {FOLDER}"
    again = [name for name in failures.tests if name in before]
    if again:
        return f"{again[0]} was flaky in the run before"
    if len({*named, *failures.tests}) > MOST:
        return f"more than {MOST} tests of a run fell"
    return ""


def second_run(names):
    """Returns which test failed alone too; "" if none did."""
    for name in names:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "--timeout", "1800"]
        if subprocess.run([*command, name], check=False).returncode:
            return f"{name} failed alone too"
    return ""


def lines(path):
    """Returns the lines of a file; none if it is missing."""
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
