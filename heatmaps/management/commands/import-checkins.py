# ruff: noqa: N999 - Django takes the name of a command from its file
"""`manage.py import-checkins SLUG FILE…`: uploads files from the command line.

Several files become available together, in one data version, once all of them are in. In all of them
equal users are the same person. Where a public schedule advances the versions, the next one includes them.
"""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from heatmaps.ingest import inline, receiving, uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.options import Options
from heatmaps.ingest.versions import advance
from heatmaps.management.parsing import FORMATS, add_reading, reading_options
from heatmaps.models import SEEN_BY_WORKERS, Dataset, Role, Upload
from heatmaps.numbers import moment
from heatmaps.pseudonyms import keys
from heatmaps.queries import names_alike_words
from mechanisms.check import ParameterError


class Command(BaseCommand):
    help = f"Upload files of check-ins into a dataset: {FORMATS}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the dataset's name in addresses")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        add_reading(parser)
        parser.add_argument(
            "--time-zone",
            default="",
            metavar="ZONE",
            help="IANA zone of times without an offset, such as Europe/Madrid (default UTC)",
        )
        parser.add_argument(
            "--no-advance",
            action="store_true",
            help="keep the rows back until a steward advances the version (or its schedule does)",
        )
        parser.add_argument(
            "--user", help="the steward in whose name to upload; default: who created the dataset"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["slug"]).first()
        if dataset is None:
            raise CommandError(f"no dataset is named {options['slug']!r}")
        steward = _steward(dataset, options["user"])
        reading = _options(options)
        imported = (self._import(steward, dataset, path, reading) for path in options["files"])
        stored = [upload for upload in imported if upload]
        if not stored:
            raise CommandError("nothing new was stored")
        if due := advance.next_due(dataset):
            self.stderr.write(f"stored; in the data version that is due at {moment(due)}")
        elif options["no_advance"]:
            self.stderr.write("stored; not in a data version yet")
        else:
            version = uploads.advance(steward, dataset)
            self.stderr.write(f"available in data version {version.number}")

    def _import(self, steward: User, dataset: Dataset, path: Path, reading: Options) -> Upload | None:
        """Returns the upload, or None when the file is in the dataset already."""
        progress = _Progress(self.stderr, path.name)
        try:
            upload = inline.upload_file(
                steward, dataset, path, advance=False, options=reading, progress=progress
            )
        except UploadError as error:
            if error.code != receiving.DUPLICATE:
                raise CommandError(f"{path.name}: {error}") from error
            self.stderr.write(f"{path.name}: skipped, {error}")
            return None
        except (OSError, keys.KeyFileError) as error:
            raise CommandError(f"{path.name}: {error}") from error
        self.stderr.write(_summary(path.name, upload))
        return upload


def _options(options: dict[str, Any]) -> Options:
    try:
        return reading_options(options)
    except ParameterError as error:
        raise CommandError(str(error)) from error


class _Progress:
    """Percent of the file to stderr, about once a second."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name, self._next = stream, name, 0.0

    def __call__(self, bytes_read: int, size_bytes: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 1
            self._stream.write(f"{self._name}: {100 * bytes_read // max(1, size_bytes)} %")


def _steward(dataset: Dataset, username: str | None) -> User:
    stewards = User.objects.filter(
        memberships__dataset=dataset, memberships__role=Role.STEWARD, is_active=True
    )
    accounts = stewards.filter(username=username) if username else stewards.filter(pk=dataset.created_by_id)
    # As a steward, whatever else the account may do: a worker's role reads no more of it.
    account = accounts.values(*SEEN_BY_WORKERS).first()
    if account is None:
        who = f"{username!r} is" if username else "whoever created the dataset is"
        raise CommandError(f"{who} no active steward of {dataset.slug}; name one with --user")
    return User(**account)


def _summary(name: str, upload: Upload) -> str:
    line = (
        f"{name}: {upload.rows_accepted} check-ins inside the region, {upload.rows_outside} outside, "
        f"{upload.rows_rejected} rejected"
    )
    if warning := names_alike_words(upload):
        line = f"{line}. {warning}"
    path = uploads.rejected_rows_path(upload)
    return f"{line} (listed in {path})" if path else line
