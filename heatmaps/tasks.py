"""Defines the Celery tasks: ids in, one call, nothing out; sent by name (`heatmaps.broker.queue`)."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

import structlog
from celery import shared_task

from heatmaps.broker import queue
from heatmaps.ingest import uploads
from heatmaps.ingest.versions import deletion, surveys
from heatmaps.masses import column_copies
from heatmaps.releases import lifecycle
from heatmaps.releases import sweep as release_sweep

# What reads a lake and hangs, in a catalog or on a disk, is killed with its process: it is read again.
_LAKE_SECONDS: Final = 3 * 3600

_log = structlog.stdlib.get_logger(__name__)


@shared_task(name=queue.RELEASE)  # type: ignore[untyped-decorator]  # Celery carries no types
def release(release_id: str) -> None:
    """Draws a reserved release, once; sent again, it finds nothing to do."""
    _run(lifecycle.run, UUID(release_id))


@shared_task(name=queue.SOURCE_RELEASE, time_limit=_LAKE_SECONDS)  # type: ignore[untyped-decorator]  # as above
def source_release(release_id: str) -> None:
    """Draws a release where the check-ins are in an owner's lake, which takes minutes."""
    _run(lifecycle.run, UUID(release_id))


@shared_task(name=queue.SURVEY, time_limit=_LAKE_SECONDS)  # type: ignore[untyped-decorator]  # as above
def survey(dataset_id: str) -> None:
    """Looks at the tables of a lake for a data version."""
    _run(surveys.run, int(dataset_id))


@shared_task(name=queue.INGEST)  # type: ignore[untyped-decorator]  # as above
def ingest(upload_id: str) -> None:
    """Reads a received upload; a large one that is ready gets its copy in columns."""
    _run(uploads.run, UUID(upload_id))
    _run(column_copies.pack, UUID(upload_id))


@shared_task(name=queue.EXPIRE)  # type: ignore[untyped-decorator]  # as above
def expire(dataset_id: str) -> None:
    """Deletes what a dataset's rule does not keep."""
    _run(deletion.delete_rows, int(dataset_id))


@shared_task(name=queue.SWEEP)  # type: ignore[untyped-decorator]  # as above
def sweep() -> None:
    """Sends again what no worker has, and ends what no worker will."""
    _run(release_sweep.sweep)


def _run(work: Callable[..., None], *ids: UUID | int) -> None:
    """Runs a task. Celery would log an error's message, which may hold data; the sweep tries again anyway."""
    try:
        work(*ids)
    except Exception as error:  # noqa: BLE001 - the last place before Celery
        _log.error("task.failed", work=work.__qualname__, ids=" ".join(map(str, ids)), cause=error)
