"""`manage.py reproduce NAME`: makes a table or figure of one of the papers, as CSV and PNG."""

import importlib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from mechanisms.check import ParameterError

LABORATORY: Final = "mechanisms.reproduction"


class Command(BaseCommand):
    help = (
        "Make a table or figure of one of the papers again. Randomness is seeded and results show the data "
        "that were given: nothing it writes is private. Without a name: list what there is."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", nargs="?", metavar="NAME", help="one of those listed without a name")
        add("files", nargs="*", metavar="FILE", help="data files, where the experiment takes any")
        add("--output", "--out", default=".", metavar="DIR", help="folder to write to (default: here)")
        add("--full", action="store_true", help="all that the paper has, however long it takes")

    def handle(self, *args: Any, **options: Any) -> None:
        registry = _registry()
        if options["name"] is None:
            for name, experiment in registry.EXPERIMENTS.items():
                files = f" [{experiment.files}]" if experiment.files else ""
                self.stdout.write(f"{name}{files}: {experiment.title}")
            return
        request = registry.ExhibitRequest(
            name=options["name"],
            folder=Path(options["output"]),
            full=options["full"],
            files=tuple(Path(file) for file in options["files"]),
        )
        try:
            for path in registry.reproduce(request):
                self.stdout.write(f"written: {path}")
        except (ParameterError, OSError) as error:
            raise CommandError(str(error)) from error


def _registry() -> Any:
    """Loads the experiments. Errors: CommandError where they, or what they draw with, are not installed."""
    # By name, not by import: experiments are no part of the product, and the wheel leaves them out.
    try:
        return importlib.import_module(f"{LABORATORY}.registry")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(LABORATORY):
            raise CommandError(
                "the papers' tables and figures are made from a checkout of Hazemap, which this is not: run "
                "`make setup-lab` and `manage.py reproduce` there"
            ) from None
        raise CommandError(
            f"{error.name} is not installed; `make setup-lab` installs what the figures are drawn with (the "
            "extra hazemap[lab])"
        ) from None
