"""`manage.py serve`: one process for the web and, with the in-process broker, its worker and sweep timer.

Nothing here runs unless the command calls it: neither imports nor `AppConfig.ready()` start threads.
"""

import errno
import fcntl
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any, Final, NoReturn

import structlog
import waitress
from celery import Celery
from django.conf import settings
from django.db import connection

from heatmaps import queue, releases

WEB_THREADS: Final = 4
WORKER_THREADS: Final = 2
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 8.0  # for draws under way; then they are given up, and their charges stay
_EXIT_NOW: Final = 0

_log = structlog.stdlib.get_logger(__name__)


class CannotServe(Exception):  # noqa: N818 - reads as what it says
    """A readable reason in one line."""


def is_embedded() -> bool:
    """Whether queues live in this process's memory, so that its own worker must do the work."""
    return str(settings.CELERY_BROKER_URL).startswith("memory:")


def listen(host: str, port: int) -> socket.socket:
    """The port, taken before anything else is done. Errors: CannotServe."""
    try:
        return socket.create_server((host, port), backlog=1024)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken; stop what uses it or choose another with PORT=..." if taken else error.strerror
        raise CannotServe(f"port {port} of {host} {reason}") from None


@contextmanager
def only_server(folder: Path) -> Iterator[None]:
    """One embedded server a state folder: a second one would have queues of its own. Errors: CannotServe."""
    with (folder / "serve.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotServe(
                f"another server uses {folder}; several web processes need HAZEMAP_BROKER_URL=redis://..."
            ) from None
        yield


class Background:
    """The embedded worker and the sweep timer, each in a thread of this process."""

    def __init__(self, app: Celery) -> None:
        self._ready, self._stopping = Event(), Event()
        self._worker = app.WorkController(
            pool="threads",
            concurrency=WORKER_THREADS,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            ready_callback=self._on_ready,
        )
        self._threads = [
            Thread(target=self._worker.start, name="worker", daemon=True),
            Thread(target=self._sweep_now_and_then, name="sweep timer", daemon=True),
        ]

    def start(self) -> None:
        """Start, and send the worker everything the database says is to be done. Errors: CannotServe."""
        for thread in self._threads:
            thread.start()
        if not self._ready.wait(START_SECONDS):
            raise CannotServe("the worker did not start; the log says why")
        if connection.vendor == "sqlite":
            releases.recover()
        else:
            releases.sweep()  # a server on another machine may be drawing: leases decide

    def stop(self) -> bool:
        """Let tasks under way finish for a while; False when one still runs after `STOP_SECONDS`."""
        self._stopping.set()
        self._worker.stop()
        for thread in self._threads:
            thread.join(STOP_SECONDS)
        return not any(thread.is_alive() for thread in self._threads)

    def _on_ready(self, _consumer: object) -> None:
        self._ready.set()

    def _sweep_now_and_then(self) -> None:
        while not self._stopping.wait(settings.SWEEP_SECONDS):
            queue.send(queue.SWEEP)


def serve_web(application: Callable[..., Any], listener: socket.socket) -> None:
    """Answer requests until SIGTERM or SIGINT; a second signal ends the process at once."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    server = waitress.create_server(
        application,
        sockets=[listener],
        threads=WEB_THREADS,
        ident=None,
        # Room for the form around the largest file; larger uploads are refused by waitress itself.
        max_request_body_size=settings.MAX_UPLOAD_BYTES + 2**20,
        **proxy_options(),
    )
    server.run()


def proxy_options() -> dict[str, object]:
    """Believe the operator's proxy about scheme and client, where `HAZEMAP_ORIGINS` says there is one.

    Without it whatever a client writes in such headers is removed.
    """
    if not settings.CSRF_TRUSTED_ORIGINS:
        return {}
    return {
        "trusted_proxy": "*",
        "trusted_proxy_count": 1,  # only what the nearest proxy added counts, not what a client wrote
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
    }


def leave_unfinished_work() -> NoReturn:
    """End the process although a worker thread still runs: the interpreter would wait for it."""
    # A release that it was drawing keeps its charge and has no result.
    _log.warning("task.given_up")
    logging.shutdown()
    sys.stdout.flush()
    os._exit(_EXIT_NOW)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    raise SystemExit
