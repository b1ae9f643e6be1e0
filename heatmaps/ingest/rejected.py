"""Lists rejected rows in a private CSV file for the steward, kept for 7 days."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

from django.conf import settings

from heatmaps import spool, spreadsheets
from heatmaps.ingest.formats.reader import Rejection
from heatmaps.ingest.upload_files import age_seconds

KEPT_SECONDS: Final = 7 * 24 * 3600
MAX_LISTED: Final = 1_000_000  # rows: a file of nothing but rubbish does not fill the disk twice


def path_of(upload_id: UUID) -> Path:
    """Returns the path of an upload's list, if any row was rejected and the 7 days are not over."""
    return _folder() / f"{upload_id}.csv"


def opened(upload_id: UUID) -> BinaryIO | None:
    """Opens an upload's list; None where there is none."""
    try:
        return spool.opened(path_of(upload_id))
    except OSError:
        return None


def remove(upload_id: UUID) -> None:
    """Deletes an upload's list, where this process may write: else a worker does it."""
    spool.take_away(path_of(upload_id))


def append(upload_id: UUID, rejections: Sequence[Rejection], *, listed: int) -> None:
    """Adds rows to the list, which has `listed` rows so far; the first ones make the file (mode 600)."""
    rejections = rejections[: max(0, MAX_LISTED - listed)]
    if not rejections:
        return
    _folder().mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path_of(upload_id), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        if listed == 0:
            lines.writerow(("row", "reason"))
        lines.writerows((rejection.row, spreadsheets.plain(rejection.reason)) for rejection in rejections)


def sweep() -> None:
    """Deletes the lists whose 7 days are over."""
    for path in _folder().glob("*.csv"):
        if age_seconds(path) > KEPT_SECONDS:
            spool.take_away(path)


def _folder() -> Path:
    return Path(settings.REJECTED_DIR)
