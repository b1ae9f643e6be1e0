"""Shares what all commands need: tables that are there, and collections by their slug."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from heatmaps.shuffler import files, settings
from heatmaps.shuffler.models import Collection


class ShufflerCommand(BaseCommand):
    requires_system_checks = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        with files.locked(settings.STATE_DIR / "migrate.lock", wait=True):
            call_command("migrate", interactive=False, verbosity=0)
        return super().execute(*args, **options)


def collection(slug: str) -> Collection:
    """Errors: CommandError."""
    found = Collection.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"no collection {slug} was joined; `join` does")
    return found
