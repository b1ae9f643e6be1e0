"""Reads uploads in the caller's own process, for commands without a worker."""

import time
from pathlib import Path
from typing import Final

from heatmaps.ingest import uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.reader import DEFAULT_OPTIONS, Options
from heatmaps.ingest.reading import Progress
from heatmaps.models import Dataset, Upload, UploadState
from heatmaps.people.permissions import Person

POLL_SECONDS: Final = 0.5

ENDED: Final = (UploadState.READY, UploadState.FAILED)


def upload_file(
    person: Person,
    dataset: Dataset,
    path: Path,
    *,
    advance: bool = True,
    options: Options = DEFAULT_OPTIONS,
    progress: Progress,
) -> Upload:
    """Receives a file and reads it to its end, here.

    Errors: those of `uploads.receive`; `UploadError` when the upload failed, OSError for a file that
    cannot be read.
    """
    with path.open("rb") as file:
        upload = uploads.receive(
            person, dataset, file, name=path.name, advance=advance, options=options, enqueue=False
        )
    finish(upload, progress=progress)
    if upload.state == UploadState.FAILED:
        raise UploadError("upload_failed", upload.failure)
    return upload


def finish(upload: Upload, *, progress: Progress) -> None:
    """Reads a received upload, or waits for the worker that took it first (and replaces it if it died)."""
    while upload.state not in ENDED:
        uploads.run(upload.pk, progress=progress)
        upload.refresh_from_db()
        if upload.state not in ENDED:
            time.sleep(POLL_SECONDS)
            uploads.restart(upload)
            upload.refresh_from_db()
