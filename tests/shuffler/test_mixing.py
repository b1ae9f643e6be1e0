"""Mixing: what comes out is the set of messages in ascending order, in the memory they came in."""

import os
import random
import subprocess
import sys

from tests.shuffler.process import ROOT

MIXED = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
import django; django.setup()
import tracemalloc
from heatmaps.shuffler.life import closing
joined = bytearray(sys.stdin.buffer.read())
tracemalloc.start()
mixed = closing.ascending(joined, 49)
sys.stderr.write(str(tracemalloc.get_traced_memory()[1]))
sys.stdout.buffer.write(mixed)
"""


def test_messages_are_sorted_each_once_without_another_copy(tmp_path):
    draw = random.Random(20261125)
    messages = [draw.randbytes(48) + b"\0" for _ in range(90_000)]
    messages += messages[:40_000]
    draw.shuffle(messages)
    done = subprocess.run(
        [sys.executable, "-c", MIXED],
        input=b"".join(messages),
        env={**os.environ, "HAZEMAP_SHUFFLER_STATE": str(tmp_path / "state")},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"".join(sorted(set(messages)))
    assert int(done.stderr) < len(messages) * 49 / 2
