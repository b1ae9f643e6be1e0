"""What is left of planted people in files that come and go: a hard link keeps every file of some folders."""

import contextlib
import os
import re
import struct
import threading
from pathlib import Path

LOOK_SECONDS = 0.02


class Traces:
    """Links each file below `folders` while it is there, also those that are deleted a moment later."""

    def __init__(self, keep, *folders):
        self._keep, self._folders = Path(keep), [Path(folder) for folder in folders]
        self._keep.mkdir()
        self.names = {}  # the original path by the number of the file
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ends.set()
        self._thread.join()
        self._look()

    def holding(self, markers):
        """(path, marker) of each file that holds one."""
        return [
            (str(path), marker)
            for number, path in self.names.items()
            for marker in held((self._keep / str(number)).read_bytes(), markers)
        ]

    def _watch(self):
        while not self._ends.wait(LOOK_SECONDS):
            self._look()

    def _look(self):
        for folder in self._folders:
            for above, _, files in os.walk(folder):
                for name in files:
                    self._link(Path(above) / name)

    def _link(self, path):
        with contextlib.suppress(OSError):  # deleted meanwhile
            number = path.lstat().st_ino
            if number not in self.names and path.is_file() and not path.is_symlink():
                os.link(path, self._keep / str(number))
                self.names[number] = path


class Markers:
    """What nobody would write by chance: beginnings of users' names, numbers of rows, coordinates."""

    def __init__(self, *, users, counts, coordinates):
        self.users, self.counts, self.coordinates = users, counts, coordinates

    @property
    def patterns(self):
        for user in self.users:
            yield user, re.compile(re.escape(user.encode()))
            yield user, re.compile(re.escape(user.encode("utf-16-le")))
        for count in self.counts:
            # 123456 and 123,456, not within a longer number.
            grouped = f"{count:,}".replace(",", "[,_]?")
            yield count, re.compile(rf"(?<![\d.]){grouped}(?!\d)".encode())
        for coordinate in self.coordinates:
            yield coordinate, re.compile(re.escape(repr(coordinate)).encode())
            for order in "<>":
                yield coordinate, re.compile(re.escape(struct.pack(order + "d", coordinate)))


def held(content, markers):
    """Which of the markers stand in it."""
    return sorted({str(marker) for marker, pattern in markers.patterns if pattern.search(content)})
