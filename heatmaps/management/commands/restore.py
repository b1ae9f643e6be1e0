"""`manage.py restore FILE`: restores a backup into an empty state folder, after checking it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from heatmaps.management import backup, server
from heatmaps.models import Dataset, HoldCause
from heatmaps.pseudonyms import keys
from heatmaps.record import hold


class Command(BaseCommand):
    help = (
        "Put a backup into an empty HAZEMAP_STATE, migrate, verify every ledger and key. "
        "What does not verify is taken away again. Restore only files you kept yourself."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="written by manage.py backup")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with server.only_server(settings.STATE_DIR), backup.restored(file.absolute()) as saved:
                self._check()
        except (backup.BackupError, server.CannotServe) as error:
            raise CommandError(str(error)) from None
        except (CommandError, keys.KeyFileError) as error:
            raise CommandError(f"{error}; nothing was restored") from None
        self.stdout.write(f"restored {saved.members} files into {settings.STATE_DIR}")
        self.stdout.write(
            "On hold: this ledger does not know what was released after the backup was made. Nothing is "
            f"drawn and no page is shown until you say what happened: `{settings.PROGRAM} resume --help`"
        )

    def _check(self) -> None:
        call_command("migrate", interactive=False, verbosity=0, stdout=self.stdout, stderr=self.stderr)
        for dataset in Dataset.objects.all():
            keys.load(dataset)
        call_command("verify-ledger", stdout=self.stdout, stderr=self.stderr)
        hold.put(HoldCause.RESTORED)
