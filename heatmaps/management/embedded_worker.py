"""Runs and supervises the worker process of `manage.py serve`, at low priority.

Draws in the web process would be felt by whoever asks for a page meanwhile, as threads take turns. Tasks are
handed over as lines of JSON, names and ids only; what is lost of them the database knows. There is a thread
for each draw that the clock may begin; files have one of their own, and so has the survey of lakes: no draw
waits for either.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import IO, TYPE_CHECKING, Any, Final

import structlog
from django.conf import settings
from django.db import connection, connections

from heatmaps.broker import queue
from heatmaps.releases import sweep

if TYPE_CHECKING:  # the server's process hands tasks over, and needs no Celery
    from celery import Celery

COMMAND = [sys.executable, str(settings.BASE_DIR / "manage.py"), "work"]
START_SECONDS: Final = 90.0  # a busy machine takes its time
STOP_SECONDS: Final = 8.0  # for draws under way; then they are given up, and their charges stay
_READY: Final = b"ready\n"
_KILL_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.1
_RESTART_SECONDS: Final = 1.0  # so that one that dies at once is not started all the time
_NICENESS: Final = 10
_SURVEYS: Final = 2  # a table that hangs holds up no other one

_log = structlog.stdlib.get_logger(__name__)


class Worker:
    """Runs the process, and starts it again whenever it ends before it is told to."""

    def __init__(self) -> None:
        self._ready, self._stopping, self._lock = Event(), Event(), Lock()
        self._input: IO[bytes] | None = None
        self._thread = Thread(target=self._keep, name="worker's keeper", daemon=True)

    def start(self) -> bool:
        """Starts the worker; False when it does not get ready in time: its log says why."""
        queue.hand_over(self.send)
        self._thread.start()
        return self._ready.wait(START_SECONDS)

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    def send(self, task_name: str, ids: tuple[str, ...]) -> None:
        """Hands a task over; lost where no worker is there, and sent again by the sweep."""
        line = json.dumps([task_name, *ids]).encode() + b"\n"
        with self._lock, suppress(OSError, ValueError):  # a pipe that is broken, or closed already
            if self._input is not None:
                self._input.write(line)
                self._input.flush()

    def stop(self) -> None:
        """Lets tasks under way finish for a while."""
        self._stopping.set()
        self._close_input()
        self._thread.join(STOP_SECONDS + 2 * _KILL_SECONDS)

    def _close_input(self) -> None:
        with self._lock, suppress(OSError):
            if self._input is not None:
                self._input.close()

    def _keep(self) -> None:
        while not self._stopping.is_set():
            code = None
            try:
                self._take_up()
                code = self._run()
            except Exception as error:  # noqa: BLE001 - a database or memory that comes back
                # The class only: a message may hold data.
                _log.error("worker.not_started", cause=type(error))
                connection.close()
            self._ready.clear()
            if not self._stopping.wait(_RESTART_SECONDS) and code is not None:
                _log.error("worker.died", code=code)

    def _run(self) -> int:
        # Signals of a terminal go to this process alone, which tells the worker by closing its input.
        with subprocess.Popen(  # noqa: S603  # our own command
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            with self._lock:
                self._input = process.stdin
            if self._stopping.is_set():
                self._close_input()
            if process.stdout is not None and process.stdout.readline() == _READY:
                self._ready.set()
            while process.poll() is None:
                if self._stopping.wait(_LOOK_SECONDS):
                    _end(process)
            return process.returncode

    @staticmethod
    def _take_up() -> None:
        """Ends what a worker that died was drawing without a result; the next sweep does everything else."""
        if connection.vendor == "sqlite":
            sweep.recover()
        else:
            sweep.sweep()  # a server on another machine may be drawing: leases decide
        connection.close()


class Tasks:
    """Runs tasks in threads of one process: draws have theirs, all the others share one."""

    def __init__(self, app: "Celery") -> None:
        self._app = app
        self._draws = ThreadPoolExecutor(sum(settings.DRAW_PLACES.values()), "draw")
        self._lakes = ThreadPoolExecutor(settings.SOURCE_PLACES, "lake")
        self._surveys = ThreadPoolExecutor(_SURVEYS, "survey")
        self._others = ThreadPoolExecutor(1, "task")
        self._under_way: set[Future[None]] = set()

    def submit(self, name: str, ids: tuple[str, ...]) -> None:
        """Begins a task when a thread is free; after `end` it is dropped, and sent again by the sweep."""
        pools = {queue.RELEASE: self._draws, queue.SOURCE_RELEASE: self._lakes, queue.SURVEY: self._surveys}
        pool = pools.get(name, self._others)
        with suppress(RuntimeError):  # a pool that was shut down
            future = pool.submit(_do, self._app.tasks[name], ids)
            self._under_way.add(future)
            future.add_done_callback(self._under_way.discard)

    def end(self) -> bool:
        """Begins nothing more, and lets tasks under way finish for a while; False where some did not."""
        for pool in (self._draws, self._lakes, self._surveys, self._others):
            pool.shutdown(wait=False, cancel_futures=True)
        return not wait(set(self._under_way), STOP_SECONDS).not_done


def work(app: "Celery") -> None:
    """Is the worker, until the input ends: then whoever started this process is gone, or wants it to end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    app.loader.import_default_modules()
    tasks = Tasks(app)
    queue.hand_over(tasks.submit)
    os.write(sys.stdout.fileno(), _READY)
    queue.send(queue.SWEEP)
    for line in sys.stdin.buffer:
        name, *ids = json.loads(line)
        tasks.submit(name, tuple(ids))
    if not tasks.end():
        # A release that is being drawn keeps its charge and has no result.
        _log.warning("task.given_up")
    logging.shutdown()
    os._exit(0)  # the interpreter would wait for what is given up


def _do(task: Any, ids: tuple[str, ...]) -> None:
    """Runs a task as Celery's own workers do; keeps no connection, which may be gone at the next task."""
    try:
        task.apply(args=ids)
    finally:
        connections.close_all()


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(STOP_SECONDS + _KILL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
