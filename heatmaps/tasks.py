"""Celery tasks: ids in, one call, nothing out. Sent by name (`heatmaps.queue`), imported by workers only."""

from uuid import UUID

from heatmaps import queue, releases
from heatmaps.config.celery import app
from heatmaps.ingest import uploads


@app.task(name=queue.RELEASE)  # type: ignore[untyped-decorator]  # Celery carries no types
def release(release_id: str) -> None:
    """Draw a reserved release, once; sent again, it finds nothing to do."""
    releases.run(UUID(release_id))


@app.task(name=queue.INGEST)  # type: ignore[untyped-decorator]
def ingest(upload_id: str) -> None:
    """Read a received upload."""
    uploads.run(UUID(upload_id))


@app.task(name=queue.SWEEP)  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Send again what no worker has, and end what no worker will."""
    releases.sweep()
