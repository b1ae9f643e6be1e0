"""Deletes what the web server handed to workers, once they need it no more: they may only read it."""

import shutil
from pathlib import Path
from threading import Event
from typing import Final

import structlog
from django.conf import settings
from django.db import close_old_connections

from heatmaps.collections import handover
from heatmaps.ingest import uploads
from heatmaps.record import hold

_NAMES: Final = {"uploads": "UPLOAD_DIR", "rejected": "REJECTED_DIR"}  # in the state folder, once

_log = structlog.stdlib.get_logger(__name__)


def watch(stopping: Event) -> None:
    """Deletes now and then until told to stop; what fails is tried again."""
    while not stopping.wait(settings.SWEEP_SECONDS):
        try:
            sweep()
        except Exception as error:  # noqa: BLE001 - the next one may succeed
            _log.warning("spool.failed", cause=error)
        finally:
            close_old_connections()


def sweep() -> None:
    """Deletes files of uploads and rounds that ended; on hold, of an older database maybe, nothing."""
    if hold.cause() is None:
        uploads.forget_ended()
        handover.forget_batches()


def move_old() -> None:
    """Brings uploads in flight of a version that had one folder for web and workers into the one for uploads.

    Lists of rejected rows are deleted: only workers write these now.
    """
    for name, setting in _NAMES.items():
        old, new = Path(settings.STATE_DIR) / name, Path(getattr(settings, setting))
        if old == new or old.is_symlink() or not old.is_dir():
            continue
        if name == "uploads":
            _move(old, new)
        shutil.rmtree(old)


def _move(old: Path, new: Path) -> None:
    for path in old.iterdir():
        if path.is_dir() and not path.is_symlink():
            (new / path.name).mkdir(mode=0o700, exist_ok=True)
            _move(path, new / path.name)
        elif path.is_file() and not path.is_symlink():
            shutil.move(path, new / path.name)
