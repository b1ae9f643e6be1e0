"""Runs a crowd of devices with the client that real ones have: `python devices.py FOLDER`, fed by its input.

A line is a link and the place of its person, separated by a tab; each device has a folder of its own. It
needs the device client (`clients/device`) in its path and nothing else. A line of output follows each report.
"""

import sys
from pathlib import Path

from hazemap_device.errors import DeviceError
from hazemap_device.places import Place
from hazemap_device.report import Device


def main(folder: Path) -> None:
    for number, line in enumerate(sys.stdin):
        link, place = line.rstrip("\n").split("\t")
        try:
            Device(folder / f"{number}").report(link, [Place.parse(place)])
            outcome = "sent"
        except DeviceError as error:
            outcome = error.code
        sys.stdout.write(f"{outcome}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
