"""The command `hazemap`: every command of `manage.py`, the shuffler's, and Celery's workers."""

import sys
from importlib import metadata

from hazemap.installation import prepare
from hazemap.overview import overview

_NAME = "hazemap"


def main() -> None:
    """Run the command that the process was given."""
    word, *others = [*sys.argv[1:2], *sys.argv[2:]] or ["help"]
    if word in ("--version", "version"):
        sys.stdout.write(f"Hazemap {metadata.version(_NAME)}\n")
    elif word in ("help", "--help", "-h") and not others:
        sys.stdout.write(overview(metadata.version(_NAME)))
    elif word == "shuffler":
        # A role of its own: nothing of the analyser's settings, keys and database is read.
        _ready("heatmaps.shuffler.settings", "HAZEMAP_SHUFFLER_STATE", f"{_NAME}-shuffler")
        _run([f"{_NAME} shuffler", *others])
    elif word == "worker":
        _ready()
        _work(others)
    else:
        _ready()
        _run([_NAME, word, *others])


def _ready(settings: str = "heatmaps.config.settings", state: str = "HAZEMAP_STATE", name: str = _NAME) -> None:
    """Settings are read here, so that what they refuse is one line and no traceback."""
    try:
        prepare(settings, state=state, name=name)
        from django.conf import settings as read  # noqa: PLC0415 - importable only now

        read.INSTALLED_APPS  # noqa: B018 - reads them
    except (RuntimeError, OSError) as refusal:
        sys.exit(f"{_NAME}: {refusal}")


def _run(arguments: list[str]) -> None:
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - as above

    execute_from_command_line(arguments)


def _work(arguments: list[str]) -> None:
    """A worker of Celery with the application at hand: by its name Celery would look in this folder first."""
    from heatmaps.config.celery import app  # noqa: PLC0415 - as above

    app.worker_main(["worker", *arguments])
