"""`manage.py reproduce NAME`: makes a table or figure of one of the papers, as CSV and PNG."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mechanisms.check import ParameterError
from mechanisms.reproduction.exhibit import ExhibitRequest
from mechanisms.reproduction.registry import EXPERIMENTS, reproduce


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
        if options["name"] is None:
            for name, experiment in EXPERIMENTS.items():
                files = f" [{experiment.files}]" if experiment.files else ""
                self.stdout.write(f"{name}{files}: {experiment.title}")
            return
        request = ExhibitRequest(
            name=options["name"],
            folder=Path(options["output"]),
            full=options["full"],
            files=tuple(Path(file) for file in options["files"]),
        )
        try:
            for path in reproduce(request):
                self.stdout.write(f"written: {path}")
        except (ParameterError, OSError) as error:
            raise CommandError(str(error)) from error
