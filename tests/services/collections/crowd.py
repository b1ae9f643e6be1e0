"""Runs devices with the client that people have, one after the other, until each has its receipt.

python -m tests.services.collections.crowd FOLDER RECORD: a line of input is a device's number, its link and
its place; a line of output what became of it. RECORD gets what nobody but the device ever knows, for tests.
"""

import json
import sys
import time
from pathlib import Path

from hazemap_device import sealing
from hazemap_device.errors import DeviceError
from hazemap_device.places import Place
from hazemap_device.report import Device

AGAIN_SECONDS = 0.05
LATER = {"no_connection", "not_taken", "server_refused", "round_not_open", "too_many_requests"}


class Recorder:
    """The suite that seals; it writes each packet down before anybody gets it."""

    def __init__(self, record):
        self.suite, self.file, self.number, self.messages = sealing._SUITE, record.open("a"), 0, []

    def encrypt(self, content, key, info):
        text = self.suite.encrypt(content, key, info)
        if info.startswith(b"hazemap message"):
            self.messages.append((content, text))
            return text
        line = {
            "number": self.number,
            "plain": [one.hex() for one, _ in self.messages],
            "sealed": [one.hex() for _, one in self.messages],
            "packet": text.hex(),
        }
        self.messages.clear()
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        return text


def report(device, link, place):
    while True:
        try:
            return {"receipt": device.report(link, [Place.parse(place)]).sha256}
        except DeviceError as refusal:
            code = refusal.code
        if code not in LATER:
            return {"code": code}
        time.sleep(AGAIN_SECONDS)


def main(folder, record):
    recorder = sealing._SUITE = Recorder(record)
    for line in sys.stdin:
        number, link, place = line.rstrip("\n").split("\t")
        recorder.number = int(number)
        told = report(Device(folder / number), link, place)
        sys.stdout.write(json.dumps({"number": int(number), **told}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
