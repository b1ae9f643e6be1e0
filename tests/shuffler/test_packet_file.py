"""Packets in the shuffler's file: no receipt without the disk, no slot twice."""

import os
import subprocess
import sys

from tests.shuffler.process import ROOT

STORED = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.shuffler.settings"
import django; django.setup()
from pathlib import Path
from heatmaps.shuffler.life.packet_file import PacketFile

PLACES, SIZE = 40, 1000
path = Path(os.environ["HAZEMAP_SHUFFLER_STATE"]) / "round" / "packets"
file = PacketFile(path=path, places=PLACES, packet_bytes=SIZE)
file.make()
empty = file.path.read_bytes()
assert empty == bytes(file.size)

# The disk fails: no slot has a packet that may not have arrived there.
on_disk, failures = os.fdatasync, [True]
def fail_once(opened):
    if failures:
        failures.pop()
        raise OSError("the disk is broken")
    on_disk(opened)
os.fdatasync = fail_once
sent = {os.urandom(32): os.urandom(SIZE) for _ in range(PLACES)}
digest, packet = next(iter(sent.items()))
try:
    file.write(7, digest, packet)
except OSError as error:
    assert str(error) == "the disk is broken"
else:
    raise AssertionError("it was not written to the disk")
assert file.path.read_bytes() == empty

# Every free slot is drawn, none twice.
slots = []
for digest, packet in sent.items():
    assert file.slot_of(digest) is None
    slots.append(file.free_slot())
    file.write(slots[-1], digest, packet)
    assert file.slot_of(digest) == slots[-1]
    assert file.read(slots[-1]) == packet
assert sorted(slots) == list(range(PLACES))
assert slots != sorted(slots)
assert file.free_slot() is None
assert file.count() == PLACES
assert sorted(file.packets()) == sorted(sent.values())
"""


def test_what_is_stored_is_on_the_disk_and_in_one_slot(tmp_path):
    subprocess.run(
        [sys.executable, "-c", STORED],
        env={**os.environ, "HAZEMAP_SHUFFLER_STATE": str(tmp_path / "state")},
        cwd=ROOT,
        check=True,
    )
