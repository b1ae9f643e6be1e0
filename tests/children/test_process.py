"""Children: what they may take, and what they are not told."""

import json
import os

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
