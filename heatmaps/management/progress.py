"""Shows a long command's progress on stderr."""

import sys
import time
from typing import Any


class Progress:
    """Shows steps done: on a terminal one line that changes, else a line every half minute."""

    def __init__(self, stream: Any, what: str) -> None:
        self._stream, self._what, self._live = stream, what, sys.stderr.isatty()
        self._pause_s = 0.5 if self._live else 30.0
        self._next = time.monotonic() + self._pause_s

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next and not (done == total and self._live):
            return
        self._next = now + self._pause_s
        end = "\r" if self._live and done < total else "\n"
        self._stream.write(f"{self._what} {done} of {total}", ending=end)
