"""`manage.py shuffler resume`: says what became of a state folder that is a copy."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from heatmaps.shuffler import files, settings, state_folder
from heatmaps.shuffler.life import forgetting
from heatmaps.shuffler.management.command import ShufflerCommand
from heatmaps.shuffler.models import FINAL, Collection, Round, State


class Command(ShufflerCommand):
    help = "Go on with a state folder that was moved, or restored from a copy."
    is_for_copies = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--moved", action="store_true", help="stopped, then moved: no other copy ran since, rounds go on"
        )
        which.add_argument(
            "--restored", action="store_true", help="anything else: rounds that did not end are forgotten"
        )

    def handle(self, *args: Any, restored: bool, **options: Any) -> None:
        try:
            with files.locked(settings.STATE_DIR / "serve.lock", wait=False):
                if restored:
                    self._end_rounds()
                state_folder.renew()
        except files.InUse:
            raise CommandError(f"a server uses {settings.STATE_DIR}: stop it first") from None
        self.stdout.write("Resumed.")

    def _end_rounds(self) -> None:
        ongoing = Round.objects.exclude(state__in=FINAL)
        for ended in ongoing:
            forgetting.end(ended, State.RESTORED)
            self.stdout.write(f"{ended.collection.slug}: round {ended.number} is forgotten.")
        for collection in Collection.objects.all():
            forgetting.finish(collection)
        self.stdout.write("People who were removed since the copy was made are enrolled again: see `people`.")
