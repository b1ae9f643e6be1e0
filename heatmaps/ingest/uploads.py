"""Runs the life of an upload, from a steward's file to rows that releases may read.

`receive` stores the file; `run` reads it in chunks that are committed under the staged upload, where no
release looks; one short transaction makes them visible, or every row is deleted and the steward is told
why. Reading a file is deterministic, so an upload whose worker died is simply read again (`sweep`).

Until a data version includes it, an upload may be undone.

Counts of an upload add up to the file's rows: accepted (valid, inside the region), outside (valid; not
stored under ADD_REMOVE, clamped to the border under REPLACE) and rejected.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ingest import reading, receiving, rejected, staging, undoing, upload_files
from heatmaps.ingest.errors import LeaseLost, UploadError, refuse_elsewhere
from heatmaps.ingest.formats.reader import DEFAULT_OPTIONS, Options, ReaderError
from heatmaps.ingest.reading import Progress
from heatmaps.ingest.receiving import NamedFile, Receipt
from heatmaps.ingest.staging import Lease
from heatmaps.ingest.versions import advance as versions
from heatmaps.ingest.versions import deletion, scheduled, surveys
from heatmaps.ledger import transitions
from heatmaps.models import Dataset, DataVersion, Upload, UploadState, hidden_columns
from heatmaps.people.permissions import Act, Person, require
from heatmaps.pseudonyms import keys

_WORKING: Final = (UploadState.RECEIVED, UploadState.STAGED)
RETRIED_FOR: Final = timedelta(hours=24)  # an upload that keeps killing its worker is given up

_log = structlog.stdlib.get_logger(__name__)
_INTERNAL = "an error of the program, not of the file; nothing was stored. The server's log says more"
_STOPPED = "stopped by the operator; nothing was stored"
_GIVEN_UP = "reading this file was interrupted again and again; nothing was stored. Please try once more"


def receive(
    person: Person,
    dataset: Dataset,
    file: upload_files.Readable,
    *,
    name: str,
    advance: bool = True,
    options: Options = DEFAULT_OPTIONS,
    enqueue: bool = True,
) -> Upload:
    """Takes a steward's file; a worker reads it (with `enqueue=False` the caller does, by `run`).

    `advance`: once it is ready, make it available in a new data version; where a schedule advances the
    versions, the next one that is due includes it, whatever is said here. `options`: how to read it.
    Errors: as `permissions.require`; `UploadError` for a file that is too large or was taken before;
    `keys.KeyFileError`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    check_takes_uploads(dataset)
    [receipt] = receiving.receive(
        steward, dataset, [(file, name)], advance=advance, options=options, enqueue=enqueue
    )
    if isinstance(receipt, UploadError):
        raise receipt
    return receipt


def receive_all(
    person: Person,
    dataset: Dataset,
    files: Sequence[NamedFile],
    *,
    advance: bool = True,
    options: Options = DEFAULT_OPTIONS,
) -> list[Receipt]:
    """Takes files together: they become available in one data version, once the last of them was read.

    For each of them, in their order, its upload or why it was refused. Errors: as `permissions.require`;
    `keys.KeyFileError`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    check_takes_uploads(dataset)
    return receiving.receive(steward, dataset, files, advance=advance, options=options, enqueue=True)


def run(upload_id: UUID, *, progress: Progress = lambda _bytes_read, _size_bytes: None) -> None:
    """Reads a received upload to its end: ready, or failed with a reason. Safe to call twice.

    Whatever is wrong is told to the steward in the upload, not raised. Errors: those of the database,
    after which the sweep starts again.
    """
    lease = staging.claim(upload_id)
    if lease is None:
        if undoing.delete_rows(upload_id):  # sent again for that, too
            rejected.remove(upload_id)
        return
    rows = Upload.objects.select_related("dataset", "uploaded_by").defer(*hidden_columns("uploaded_by"))
    upload = rows.get(pk=lease.upload_id)
    try:
        reading.read(upload, lease, progress)
        versions.make_visible(upload, lease)
    except LeaseLost:
        _log.warning("upload.taken_over", upload=upload.pk)
    except (UploadError, ReaderError, keys.KeyFileError) as refusal:
        _fail(upload, lease, str(refusal))
    except (OperationalError, InterfaceError):
        raise  # the database, not the file: the sweep starts again once the lease is over
    except KeyboardInterrupt:
        _fail(upload, lease, _STOPPED)
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing may stay half-stored
        _fail(upload, lease, _INTERNAL)
        _log.error("upload.broke", upload=upload.pk, cause=error)
    else:
        upload_files.remove(upload.pk)


def advance(person: Person, dataset: Dataset) -> DataVersion:
    """Makes the next data version, with every ready upload.

    Errors: as `permissions.require`; `UploadError` where a schedule advances the versions.
    """
    steward = require(person, dataset, Act.UPLOAD)
    check_takes_uploads(dataset)
    return versions.advance(dataset, actor=steward)


def check_takes_uploads(dataset: Dataset) -> None:
    """Refuses datasets that take no uploads. Errors: `UploadError`."""
    refuse_elsewhere(dataset, dataset.origin.refused_files)


def undo(person: Person, upload: Upload) -> None:
    """Takes a ready upload back, which no data version includes yet; a worker deletes its rows.

    Errors: as `permissions.require`; `UploadError` when a version includes it, or it is not ready.
    """
    require(person, upload.dataset, Act.UPLOAD)
    with transitions.locked(upload.dataset_id):
        undoing.withdraw(upload)
        queue.send(queue.INGEST, str(upload.pk))
    rejected.remove(upload.pk)


def rejected_rows_path(upload: Upload) -> Path | None:
    """Returns the CSV file (row, reason) of the rejected rows; None without any, or after 7 days."""
    path = rejected.path_of(upload.pk)
    return path if path.is_file() and upload.state != UploadState.UNDONE else None


def rejected_rows(upload: Upload) -> BinaryIO | None:
    """Opens `rejected_rows_path`; a link that a worker put there is none."""
    return None if rejected_rows_path(upload) is None else rejected.opened(upload.pk)


def sweep() -> None:
    """Makes the data versions that are due, sends waiting uploads and deletions to the workers again,
    restarts uploads whose worker died, deletes old files."""
    scheduled.sweep()
    surveys.sweep()
    deletion.sweep()
    left = Upload.objects.filter(state=UploadState.STAGED, lease_until__lt=timezone.now())
    for upload_id in list(left.values_list("pk", flat=True)):
        _restart_alone(upload_id)
    uploads = Upload.objects.filter(state=UploadState.RECEIVED)
    for upload_id in [*uploads.values_list("pk", flat=True), *undoing.unfinished()]:
        queue.send(queue.INGEST, str(upload_id))
    upload_files.sweep(set(Upload.objects.filter(state__in=_WORKING).values_list("pk", flat=True)))
    rejected.sweep()


def _restart_alone(upload_id: UUID) -> None:
    """Restarts one upload; whatever is wrong with its row, the others are restarted."""
    try:
        restart(Upload.objects.get(pk=upload_id))
    except (InterfaceError, OperationalError):
        raise
    except Exception as error:  # noqa: BLE001 - the next sweep tries again
        _log.error("upload.not_restarted", upload=upload_id, cause=type(error))


def forget_ended() -> None:
    """Deletes the files of uploads that ended; for the web server, where workers may not."""
    uploads = Upload.objects.filter(pk__in=upload_files.stored_uploads()).exclude(state__in=_WORKING)
    for upload_id in uploads.values_list("pk", flat=True):
        upload_files.remove(upload_id)
    upload_files.sweep(set(Upload.objects.filter(state__in=_WORKING).values_list("pk", flat=True)))


def restart(upload: Upload) -> None:
    """Lets the file of a dead worker be read again, unless for too long already; deletes what it left."""
    lease = staging.take_over(upload)
    if lease is None:
        return
    if timezone.now() - upload.created_at < RETRIED_FOR and upload_files.path_of(upload.pk).is_file():
        lease.hand_back()
    else:
        _fail(upload, lease, _GIVEN_UP)


def _fail(upload: Upload, lease: Lease, reason: str) -> None:
    versions.give_up(upload, lease, reason)
    upload_files.remove(upload.pk)
