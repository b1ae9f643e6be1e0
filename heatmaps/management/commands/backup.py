"""`manage.py backup FILE`: saves the embedded state as one private archive; a server may be running."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.management import backup


class Command(BaseCommand):
    help = (
        "Save database, keys and credentials of the embedded installation in one new file of mode 600. "
        "Whoever holds it can read everything and link people across uploads: keep it private."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a file that does not exist yet")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            saved = backup.save(file.absolute())
        except backup.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{file}: {saved.members} files, {saved.size_bytes} bytes")
        self.stdout.write(
            "Database and keys are in it together: keep it private. Files of uploads in flight are not in it."
        )
