"""Defines the Celery application, for the embedded worker and for deployments."""

import os
import sys
from pathlib import Path
from typing import Final

from celery import Celery, Task
from celery.signals import task_prerun, worker_init
from kombu.entity import Queue
from structlog.contextvars import bind_contextvars, clear_contextvars

from heatmaps.children import notice
from heatmaps.record import place
from mechanisms.catalogue import registry
from mechanisms.catalogue.entries import loaded
from mechanisms.devices import catalogue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heatmaps.config.settings")
# Celery runs Django's checks and drops what they say: for that alone a worker would load every page.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

_ROOT: Final = str(Path(__file__).resolve().parents[2])
# `celery -A` takes the current folder away again once: in a checkout that is this very one.
_path = [_ROOT, *sys.path]
app = Celery("hazemap")
# Celery puts the current folder before all others, where modules of anybody may be.
sys.path[:] = _path
app.config_from_object("django.conf:settings", namespace="CELERY")
# Draws wait for no file, what an owner's lake is asked holds nothing up, and no draw from a lake waits while
# another one is looked at: queues of their own. A worker that is given no names takes from all.
app.conf.task_queues = [Queue(name) for name in ("draws", "lakes", "surveys", "celery")]  # type: ignore[no-untyped-call]  # kombu has no types
app.autodiscover_tasks(["heatmaps"])
# `celery.current_app` in every thread, those of the web server included.
app.set_default()


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def check_record(**_arguments: object) -> None:
    """Ends a worker at once whose record of draws ends with its container."""
    try:
        place.check()
    except place.RecordError as refusal:
        raise SystemExit(str(refusal)) from None


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def say_what_confines(**_arguments: object) -> None:
    """Warns where files of others are read with less between them and this worker's secrets."""
    notice.warn()


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def load_mechanisms(**_arguments: object) -> None:
    """Loads every mechanism before the worker forks, so that its processes share them."""
    for entry in registry.entries():
        loaded(entry.class_path)
    for plan in catalogue.entries():
        loaded(plan.maker)


@task_prerun.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def name_task(task_id: str, task: Task, **_arguments: object) -> None:
    """Names the task in every line that is logged while it runs."""
    clear_contextvars()
    bind_contextvars(task=task.name, task_id=task_id)
