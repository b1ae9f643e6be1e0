"""Sends tasks to workers by name, ids only, once the database has committed the work."""

from collections.abc import Callable
from functools import partial
from queue import Full, Queue
from threading import Thread
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

RELEASE: Final = "heatmaps.release"
SOURCE_RELEASE: Final = "heatmaps.source_release"  # of a dataset whose check-ins stay in a lake
SURVEY: Final = "heatmaps.survey"
INGEST: Final = "heatmaps.ingest"
EXPIRE: Final = "heatmaps.expire"
SWEEP: Final = "heatmaps.sweep"
IDS: Final = {RELEASE: 1, SOURCE_RELEASE: 1, SURVEY: 1, INGEST: 1, EXPIRE: 1, SWEEP: 0}  # how many a task has
_MOST_WAITING: Final = 1000
Sender = Callable[[str, tuple[str, ...]], None]

_log = structlog.stdlib.get_logger(__name__)


def send(task_name: str, *ids: str) -> None:
    """Queues a task when the current transaction commits (at once outside of one).

    A broker that does not answer is no error: the database says what is to be done, and the sweep sends
    it again.
    """
    transaction.on_commit(partial(_send, task_name, ids))


def hand_over(to: Sender) -> None:
    """Gives the tasks of this process to somebody from now on, as `manage.py serve` does to its worker."""
    _handed_over[:] = [to]


def send_in_background() -> None:
    """Sends the tasks of this process from a thread of its own from now on: nobody waits for a broker.

    A task that waits already waits once. What finds very many waiting is dropped: the sweep sends it again.
    """
    waiting: Queue[tuple[str, tuple[str, ...]]] = Queue(_MOST_WAITING)
    tasks: set[tuple[str, tuple[str, ...]]] = set()

    def put(task_name: str, ids: tuple[str, ...]) -> None:
        task = (task_name, ids)
        if task in tasks:
            return
        tasks.add(task)  # before it can be taken, which takes it out again
        try:
            waiting.put_nowait(task)
        except Full:
            tasks.discard(task)

    def work() -> None:
        while True:
            task = waiting.get()
            tasks.discard(task)
            _publish(*task)

    Thread(target=work, name="sender", daemon=True).start()
    hand_over(put)


_handed_over: list[Sender] = []


def _send(task_name: str, ids: tuple[str, ...]) -> None:
    if _handed_over:
        _handed_over[0](task_name, ids)
    else:
        _publish(task_name, ids)


def _publish(task_name: str, ids: tuple[str, ...]) -> None:
    try:
        # By name: it is in an upper room, and only who sends to a broker loads Celery.
        import_string(settings.TASK_APPLICATION).send_task(task_name, args=ids, retry=False)
    except Exception as error:  # noqa: BLE001 - Redis, the network, kombu: each has errors of its own
        # The sweep sends it again.
        _log.warning("task.not_sent", task=task_name, ids=" ".join(ids), cause=type(error))
