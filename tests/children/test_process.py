"""Children: what they may take, and what they are not told."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from heatmaps.children import process
from heatmaps.children.process import OUT_OF_MEMORY, Limits

MODULE = "tests.children.witness"
ENOUGH = Limits(memory_bytes=2**28, cpu_seconds=20)


def test_a_child_is_told_no_secrets(monkeypatch):
    for name in ("HAZEMAP_DATABASE_URL", "HAZEMAP_KEY_DIR", "PGPASSWORD"):
        monkeypatch.setenv(name, "a secret")
    child = process.started(MODULE, ENOUGH)
    out, _ = child.communicate(b'"tell"\n')
    told = json.loads(out)

    assert process.ended(child) == 0
    assert "a secret" not in told["environment"].values()
    assert not [name for name in told["environment"] if name.startswith(("HAZEMAP", "DJANGO"))]
    assert told["nice"] > os.nice(0)
    assert told["memory"] == ENOUGH.memory_bytes
    assert told["descriptors"] == [0, 1, 2]


def test_a_child_that_takes_too_much_memory_ends():
    assert process.finished(MODULE, b'"memory"\n', ENOUGH) == OUT_OF_MEMORY


def test_a_child_that_takes_too_long_ends():
    assert process.finished(MODULE, b'"time"\n', Limits(memory_bytes=2**28, cpu_seconds=1, nicer=0)) < 0


@pytest.mark.parametrize("status", [0, -9])
def test_a_child_can_be_ended(status):
    child = process.started(MODULE, ENOUGH)
    if status == 0:
        child.communicate(b'"tell"\n')
    assert process.ended(child) == status


def test_what_a_child_says_beside_its_answer_takes_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert process.finished(MODULE, b'"output"\n', ENOUGH) == 0  # 256 MiB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**16  # KiB


def test_a_child_neither_cuts_off_nor_fills_the_servers_log(tmp_path):
    (log := tmp_path / "log").write_text("a line of before\n")
    server = "from tests.children.test_process import *; process.finished(MODULE, b'\"log\"\\n', ENOUGH)"
    with log.open("a") as file:
        subprocess.run([sys.executable, "-c", server], stderr=file, check=True)
    said = log.read_text()
    assert said.startswith("a line of before\n")
    assert len(said) < 2**17  # of a MiB


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone chooses by a score")
def test_where_memory_is_used_up_a_child_ends_before_its_server():
    child = process.started(MODULE, ENOUGH)
    child.stdin.write(b'"tell"\n')
    child.stdin.close()
    child.stdout.read()
    assert Path(f"/proc/{child.pid}/oom_score_adj").read_text() == "1000\n"
    assert process.ended(child) == 0
