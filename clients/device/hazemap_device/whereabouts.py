"""Asks where the device is: a file or a command that says LAT,LON. Nothing of the answer is kept."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from hazemap_device.errors import DeviceError
from hazemap_device.places import Place
from hazemap_device.slots import LONGEST_READING_S

# Seconds that it may take; no place where none is known.
Whereabouts: TypeAlias = Callable[[float], Place | None]
_MOST_BYTES: Final = 10_000


def from_file(path: Path) -> Whereabouts:
    """Reads the last line of a file that something else writes."""

    def read(_seconds: float) -> Place | None:
        try:
            with path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - _MOST_BYTES))
                return _last_place(file.read())
        except OSError:
            return None

    return read


def from_command(command: str) -> Whereabouts:
    """Reads the last line that a command writes; it is stopped when it takes too long."""
    words = shlex.split(command)

    def run(seconds: float) -> Place | None:
        try:
            done = subprocess.run(  # noqa: S603 - the person's own command, without a shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=min(seconds, LONGEST_READING_S),
                check=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        return _last_place(done.stdout[-_MOST_BYTES:])

    return run


def _last_place(content: bytes) -> Place | None:
    lines = content.decode("ascii", errors="replace").split("\n")
    written = [line for line in lines if line.strip()]
    try:
        return Place.parse(written[-1]) if written else None
    except DeviceError:
        return None
