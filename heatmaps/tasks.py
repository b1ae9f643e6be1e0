"""Celery tasks: ids in, one call, nothing out. Sent by name (`heatmaps.queue`), imported by workers only."""

from collections.abc import Callable
from uuid import UUID

import structlog
from celery import shared_task

from heatmaps import queue, releases
from heatmaps.ingest import expiring, uploads
from heatmaps.masses import packing

_log = structlog.stdlib.get_logger(__name__)


@shared_task(name=queue.RELEASE)  # type: ignore[untyped-decorator]  # Celery carries no types
def release(release_id: str) -> None:
    """Draw a reserved release, once; sent again, it finds nothing to do."""
    _run(releases.run, UUID(release_id))


@shared_task(name=queue.SHARD)  # type: ignore[untyped-decorator]
def shard(shard_id: str) -> None:
    """Read one share of a large release; the last one draws."""
    _run(releases.read_shard, UUID(shard_id))


@shared_task(name=queue.INGEST)  # type: ignore[untyped-decorator]
def ingest(upload_id: str) -> None:
    """Read a received upload; a large one that is ready gets its copy in columns."""
    _run(uploads.run, UUID(upload_id))
    _run(packing.pack, UUID(upload_id))


@shared_task(name=queue.EXPIRE)  # type: ignore[untyped-decorator]
def expire(dataset_id: str) -> None:
    """Delete what a dataset's rule does not keep."""
    _run(expiring.delete_rows, int(dataset_id))


@shared_task(name=queue.SWEEP)  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Send again what no worker has, and end what no worker will."""
    _run(releases.sweep)


def _run(work: Callable[..., None], *ids: UUID | int) -> None:
    """Celery would log an error with its message, which may hold data; the sweep tries again anyway."""
    try:
        work(*ids)
    except Exception as error:  # noqa: BLE001 - the last place before Celery
        _log.error("task.failed", work=work.__qualname__, ids=" ".join(map(str, ids)), cause=error)
