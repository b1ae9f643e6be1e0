"""`make test-changed`: runs the tests that a change adds or edits many times beside busy processes.

A test that falls by chance, by the order of tests or by a slow machine shows it here before it lands.
"""

import argparse
import ast
import contextlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.services.installation import ROOT

BUSY = "while True: pass"
FAILED = 1  # pytest ran to its end
OUTCOME = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main(arguments=None):
    """Returns the exit code: 0 if every run passed."""
    parser = argparse.ArgumentParser(prog="tests.changed", description=__doc__)
    parser.add_argument("base", help="the commit before the change, such as origin/main")
    parser.add_argument("--times", type=int, default=20, help="how often each test runs")
    parser.add_argument("--busy", type=int, default=os.cpu_count(), help="how many processes compute beside")
    parser.add_argument("--list", action="store_true", help="print the tests without running them")
    options = parser.parse_args(arguments)
    names = changed_tests(options.base)
    print(f"{len(names)} tests were added or edited since {options.base}.")
    if options.list or not names:
        print("\n".join(names))
        return 0
    with busy(options.busy):
        failures = run(names, options.times)
    for name, count in failures.most_common():
        print(f"{name}: failed in {count} of {options.times} runs")
    return int(bool(failures))


def changed_tests(base):
    """Returns the names, as pytest takes them, of test functions whose source is not that of the base."""
    lines = git("diff", "--name-status", "--diff-filter=AMR", "-M", base, "--", "tests").splitlines()
    names = []
    for _, *paths in map(str.split, lines):
        before, after = paths[0], paths[-1]
        if not Path(after).match("test_*.py"):
            continue
        earlier = sources_by_name(git("show", f"{base}:{before}", missing=""))
        later = sources_by_name((ROOT / after).read_text())
        names += [f"{after}::{name}" for name, source in later.items() if earlier.get(name) != source]
    return names


def sources_by_name(text):
    """Returns the source of each test of a module, with its decorators, by its name."""
    return {
        node.name: ast.unparse(node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def run(names, times):
    """Returns how often each test failed; a run that pytest could not finish counts under its exit code."""
    failures = Counter()
    for number in range(1, times + 1):
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--timeout", "1800", *names]
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        failed = OUTCOME.findall(finished.stdout)
        failures.update(failed)
        if finished.returncode not in (0, FAILED) or (finished.returncode == FAILED and not failed):
            failures[f"pytest's exit code {finished.returncode}"] += 1
            print(finished.stdout[-2000:], finished.stderr[-2000:])
        print(f"{number}/{times}: {finished.stdout.strip().rpartition(chr(10))[2]}", flush=True)
    return failures


@contextlib.contextmanager
def busy(count):
    """Keeps processes computing, so that the tests wait for their turn."""
    loads = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for load in loads:
            load.kill()
            load.wait()


def git(*arguments, missing=None):
    """Returns what git prints; `missing` if it fails and a stand-in was given."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode and missing is not None:
        return missing
    result.check_returncode()
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
