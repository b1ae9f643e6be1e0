"""Runs `manage.py serve`: one process for the web and, without a broker, the clock and a worker process.

Nothing here runs unless the command calls it: neither imports nor `AppConfig.ready()` start threads.
"""

import errno
import fcntl
import signal
import socket
import ssl
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any, Final, NoReturn

from django.conf import settings

from heatmaps.front import server
from heatmaps.http import health
from heatmaps.management import spooled_files
from heatmaps.management.embedded_worker import Worker
from heatmaps.releases import clock
from heatmaps.releases.heartbeat import ThreadHeartbeat
from mechanisms.check import printable

WEB_THREADS: Final = 4
MOST_PORT: Final = 65535


class CannotServe(Exception):  # noqa: N818 - reads as what it says
    """Gives a readable reason in one line."""


def is_embedded() -> bool:
    """Returns whether queues live in a process's memory, so that a worker of this server must do the work."""
    return str(settings.CELERY_BROKER_URL).startswith("memory:")


def port(text: str) -> int:
    """Parses the number of a port, as a command or PORT names it. Errors: ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= MOST_PORT):
        raise ArgumentTypeError(f"port is {printable(text)}, allowed: a whole number from 0 to {MOST_PORT}")
    return int(text)


def listen(host: str, port: int, *, choose: str = "--port or PORT=...") -> socket.socket:
    """Takes the port, before anything else is done. choose: the setting of another. Errors: CannotServe."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        is_taken = error.errno == errno.EADDRINUSE
        reason = (
            f"is taken; stop what uses it or choose another with {choose}" if is_taken else error.strerror
        )
        raise CannotServe(f"port {port} of {host} {reason}") from None


@contextmanager
def only_server(folder: Path) -> Iterator[None]:
    """Locks the state folder: a second embedded server would have its own queues. Errors: CannotServe."""
    with (folder / "serve.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotServe(
                f"another server uses {folder}: stop it first, or name another folder with HAZEMAP_STATE; "
                "several web processes for one folder need HAZEMAP_BROKER_URL=redis://..."
            ) from None
        yield


class Background:
    """Runs beside the web: a look at its health, and embedded the clock and the worker."""

    def __init__(self, *, embedded: bool) -> None:
        self.stopping = Event()
        self._worker = Worker() if embedded else None
        self._heartbeat = ThreadHeartbeat()
        work: list[Callable[[], None]] = [partial(health.watch, self.stopping)]
        if not embedded:
            work.append(partial(spooled_files.watch, self.stopping))
        if embedded:
            health.embed(self._states)
            work.append(partial(clock.run, self.stopping, ticked=self._heartbeat.beat))
        self._threads = [Thread(target=target, daemon=True) for target in work]

    def start(self) -> None:
        """Starts the threads. Errors: CannotServe."""
        if self._worker is not None and not self._worker.start():
            self.stop()
            raise CannotServe("the worker did not start; the log says why")
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Lets tasks under way finish for a while."""
        self.stopping.set()
        if self._worker is not None:
            self._worker.stop()

    def _states(self) -> health.States:
        is_ready = self._worker is not None and self._worker.is_ready
        return {
            health.HealthPart.CLOCK: self._heartbeat.is_beating(),
            **dict.fromkeys(health.workers(), is_ready),
        }


def serve_web(
    application: Callable[..., Any], listener: socket.socket, tls: ssl.SSLContext | None = None
) -> None:
    """Answers requests until SIGTERM or SIGINT; a second signal ends the process at once."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    server.create(application, listener, threads=WEB_THREADS, tls=tls).run()


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    raise SystemExit
