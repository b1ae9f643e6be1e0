"""`make production-check` as a test, and the reading of the compose files it stands on."""

import os
import re
import subprocess
import sys

import pytest

from tests.services import compose
from tests.services.installation import ROOT
from tests.services.programs import Postgres, Redis, found_or_skip
from tests.services.rehearsal import Rehearsal

ANALYSER = ["postgres", "migrate", "redis", "web", "worker", "reader", "lakes", "surveys", "scheduler"]


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_the_deployment_goes_from_request_to_published_and_leaves_nothing_behind():
    found_or_skip(Postgres)
    found_or_skip(Redis)
    run = subprocess.run(
        [sys.executable, "-m", "tests.services.rehearsal"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr[-4000:]
    started = dict(re.findall(r"^(\w+) +started, process (\d+)$", run.stdout, re.MULTILINE))
    stopped = dict(re.findall(r"^(\w+) +stopped, exit code (-?\d+)$", run.stdout, re.MULTILINE))
    assert sorted(started) == sorted([*ANALYSER, "shuffler"])
    assert stopped == dict.fromkeys(started, "0")
    assert "release    published, drawn once, ledger verifies" in run.stdout
    assert "roles      web, worker and clock cannot change events or tables" in run.stdout
    assert "shuffler   asks the analyser, which knows its own tokens alone" in run.stdout
    for process in started.values():
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


def test_the_shuffler_starts_alone_as_its_operator_starts_it(tmp_path, capsys):
    service = compose.parsed(compose.COLLECTIONS, with_included=False)["services"]
    with Rehearsal(tmp_path, {"services": service}) as rehearsal:
        rehearsal.start()
        rehearsal.shuffler()
    (process,) = rehearsal.processes.values()
    assert process.returncode == 0
    assert "shuffler   healthy after" in capsys.readouterr().out


def test_a_service_comes_after_those_it_depends_on():
    assert [name for name in compose.in_order(compose.parsed()) if name != "spark"] == ANALYSER
    assert set(compose.in_order(compose.parsed(compose.COLLECTIONS))) == {*ANALYSER, "spark", "shuffler"}


def test_words_are_replaced_once_each():
    table = {"8000": "6379", "6379": "1", "$$": "$"}
    assert compose.replaced("a 8000 b 6379 $$(c)", table) == "a 6379 b 1 $(c)"


def test_what_is_not_set_has_its_default():
    assert compose.with_defaults("a ${B:-c},${D_1:-},$$e,${F:+g}") == "a c,,$$e,"
