"""The command `hazemap`: every command of `manage.py`, the shuffler's, and Celery's workers."""

import os
import sys
from importlib import metadata
from typing import Final

from hazemap.installation import PRODUCT, SHUFFLER, Role, prepare
from hazemap.overview import overview, shuffler_overview

_NAME: Final = "hazemap"


def main() -> None:
    """Run the command that the process was given."""
    word, *others = sys.argv[1:] or ["help"]
    if word in ("--version", "version"):
        sys.stdout.write(f"Hazemap {metadata.version(_NAME)}\n")
    elif word in ("help", "--help", "-h") and not others:
        sys.stdout.write(overview(metadata.version(_NAME)))
    elif word == "shuffler" and others in ([], ["help"], ["--help"], ["-h"]):
        sys.stdout.write(shuffler_overview())
    elif word == "shuffler":
        _ready(SHUFFLER)
        _run([f"{_NAME} shuffler", *others])
    elif word == "worker":
        _ready(PRODUCT)
        _work(others)
    else:
        _ready(PRODUCT, word)
        _run_with_tables([_NAME, word, *others])


def _ready(role: Role, command: str = "") -> None:
    """Read a role's settings, so that what they refuse is one line and no traceback."""
    try:
        prepare(role)
        if role is PRODUCT:
            from heatmaps.config.file_commands import settings_for  # noqa: PLC0415 - importable only now

            os.environ["DJANGO_SETTINGS_MODULE"] = settings_for([command])
        from django.conf import settings  # noqa: PLC0415 - importable only now

        settings.INSTALLED_APPS  # noqa: B018 - reads them
    except (RuntimeError, OSError) as refusal:
        sys.exit(f"{_NAME}: {refusal}")


def _run(arguments: list[str]) -> None:
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - as above

    execute_from_command_line(arguments)


def _run_with_tables(arguments: list[str]) -> None:
    """A new installation has no tables, which is no fault of anybody."""
    from django.db import DatabaseError, connection  # noqa: PLC0415 - as above

    try:
        _run(arguments)
    except DatabaseError:
        from heatmaps import schema  # noqa: PLC0415 - commands on files have no database, and load nothing of it

        if not schema.is_behind(connection):
            raise
        sys.exit(f"{_NAME}: the database waits for migrations; run `{_NAME} migrate` first")


def _work(arguments: list[str]) -> None:
    """A worker with the application at hand: by its name, Celery would look in the current folder first."""
    from heatmaps.config.celery import app  # noqa: PLC0415 - as above

    app.worker_main(["worker", *arguments])
