"""Opens the metrics' own address, which is never that of the pages."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from django.conf import settings

from heatmaps.front import server as front
from heatmaps.http import health
from heatmaps.http.metrics import Watch
from heatmaps.management import server


@contextmanager
def listener() -> Iterator[socket.socket | None]:
    """Listens at the address of HAZEMAP_METRICS; None where it is not set. Errors: `server.CannotServe`."""
    if settings.METRICS_ADDRESS is None:
        yield None
        return
    with server.listen(*settings.METRICS_ADDRESS, choose="HAZEMAP_METRICS=HOST:PORT") as listening:
        yield listening


def start(listening: socket.socket, stopping: Event) -> None:
    """Answers beside the pages, in threads that end with the process."""
    watch = Watch()
    answers = front.create(watch.application, listening, threads=1)
    for run in (answers.run, partial(watch.run, stopping)):
        Thread(target=run, name="metrics", daemon=True).start()


def serve(listening: socket.socket) -> None:
    """Answers until SIGTERM or SIGINT, with nothing else in this process."""
    watch, stopping = Watch(), Event()
    for run in (health.watch, watch.run):
        Thread(target=run, args=(stopping,), name="metrics", daemon=True).start()
    server.serve_web(watch.application, listening)
