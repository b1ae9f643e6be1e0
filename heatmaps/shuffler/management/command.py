"""Shares what all commands need: tables that are there, and collections by their slug."""

from typing import Any, Final

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from heatmaps.shuffler import files, settings, state_folder
from heatmaps.shuffler.models import Collection

_COPY: Final = (
    f"{settings.STATE_DIR} is a copy: used invitations and destroyed keys may be back. If it was moved, and "
    "no other copy ran since: `shuffler resume --moved`. Else `shuffler resume --restored` forgets the "
    "rounds that did not end."
)


class ShufflerCommand(BaseCommand):
    requires_system_checks = []
    is_for_copies = False  # whether it runs in a state folder that is a copy

    def execute(self, *args: Any, **options: Any) -> str | None:
        with files.locked(settings.STATE_DIR / "migrate.lock", wait=True):
            call_command("migrate", interactive=False, verbosity=0)
            if state_folder.is_copy() and not self.is_for_copies:
                raise CommandError(_COPY)
        return super().execute(*args, **options)


def collection(slug: str) -> Collection:
    """Returns the collection that was joined. Errors: CommandError."""
    row = Collection.objects.filter(slug=slug).first()
    if row is None:
        raise CommandError(f"no collection {slug} was joined; `join` does")
    return row
