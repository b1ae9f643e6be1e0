"""Tells what a monitor may know: a closed list of facts about the installation, none about data or people.

There is no count of people, requests, datasets or tasks, no path and no duration. The length of a queue is
left out, too: it ends when a file has been read, and so tells how large somebody's data are.
"""

import math
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, Final

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import Error, connection
from django.http import HttpRequest

from heatmaps import VERSION, schema
from heatmaps.children import confinement
from heatmaps.http import health

PATH: Final = "/metrics"
LOOK_SECONDS: Final = 15.0
# An upload may be of gigabytes: who reads the number all the time would see when it came.
DISK_SECONDS: Final = 3600.0
_log = structlog.stdlib.get_logger(__name__)
_GIB: Final = 2**30
_HEADERS: Final = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"  # of Prometheus
_NUMBERS: Final = {True: "1", False: "0", None: "NaN"}
Values = dict[str, dict[str, str]]  # by metric and labels
_HELP: Final = {
    "hazemap_up": "1 where this process answers.",
    "hazemap_info": "The version of Hazemap.",
    "hazemap_migrations_pending": "1 where the database waits for migrations; NaN where it does not answer.",
    "hazemap_disk_free_bytes": "Free room of the state folder, down to whole GiB, looked at once an hour.",
    "hazemap_children_confined": "1 where the system keeps children that read files from everything else.",
    "hazemap_part_up": "1 where a part works; NaN where what is asked about it does not answer.",
    "hazemap_worker_up": "1 where every worker that is needed answers.",
}


class Watch:
    """Looks now and then, so that no answer waits and none tells how busy the machine is."""

    def __init__(self) -> None:
        self._disk_seen, self._disk_free = -math.inf, 0
        self._is_migrated = False
        self._installation: Values = {}
        self.look()

    def run(self, stopping: Event) -> None:
        """Looks until told to stop; `health.watch` looks at the parts."""
        while not stopping.wait(LOOK_SECONDS):
            try:
                self.look()
                connection.close_if_unusable_or_obsolete()
            except Exception as error:  # noqa: BLE001 - what is told would stay as it is for ever
                _log.error("metrics.not_seen", cause=type(error))

    def look(self) -> None:
        """Renews what is told of the installation."""
        self._installation = {
            "hazemap_info": {f'{{version="{VERSION}"}}': "1"},
            "hazemap_migrations_pending": {"": self._pending()},
            "hazemap_disk_free_bytes": {"": str(self._free_bytes())},
            "hazemap_children_confined": {"": _NUMBERS[not confinement.missing()]},
        }

    @property
    def text(self) -> str:
        """Writes the facts for Prometheus."""
        states = health.latest().states
        parts = {f'{{part="{part}"}}': _NUMBERS[works] for part, works in states.items()}
        has_workers = all(states.get(part) for part in health.workers())
        values = {"hazemap_up": {"": "1"}, **self._installation, "hazemap_part_up": parts}
        return "".join(_lines({**values, "hazemap_worker_up": {"": _NUMBERS[has_workers]}}))

    def application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Makes a WSGI application of one page, for the hosts of the pages.

        Another website could have its own name lead here, and read the answer in a browser of this network.
        """
        try:
            request = HttpRequest()
            request.META = environ
            request.get_host()
        except DisallowedHost:
            status, text = "400 Bad Request", "HAZEMAP_ALLOWED_HOSTS lacks the host of this address\n"
        else:
            status, text = self._answer(environ["PATH_INFO"], environ["REQUEST_METHOD"])
        content = text.encode()
        kind, length = ("Content-Type", _TEXT), ("Content-Length", str(len(content)))
        start_response(status, [kind, length, *_HEADERS])
        # What follows the headers of an answer to HEAD would be read as the next answer.
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [content]

    def _answer(self, path: str, method: str) -> tuple[str, str]:
        if path != PATH:
            return "404 Not Found", f"{PATH} is the only page here\n"
        if method not in ("GET", "HEAD"):
            return "405 Method Not Allowed", "GET and HEAD are allowed\n"
        return "200 OK", self.text

    def _pending(self) -> str:
        """Says whether migrations are pending. A running version's tables do not age: one look is enough."""
        try:
            self._is_migrated = self._is_migrated or not schema.is_behind(connection)
        except Error:
            return "NaN"
        return "0" if self._is_migrated else "1"

    def _free_bytes(self) -> int:
        if time.monotonic() >= self._disk_seen + DISK_SECONDS:
            self._disk_seen, self._disk_free = time.monotonic(), free_bytes(settings.STATE_DIR)
        return self._disk_free


def free_bytes(folder: Path) -> int:
    """Returns the free bytes of the folder's disk, down to a whole GiB."""
    return shutil.disk_usage(folder).free // _GIB * _GIB


def _lines(values: Values) -> Iterator[str]:
    for name, samples in values.items():
        yield f"# HELP {name} {_HELP[name]}\n# TYPE {name} gauge\n"
        yield from (f"{name}{labels} {value}\n" for labels, value in samples.items())
