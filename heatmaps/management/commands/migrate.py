"""`manage.py migrate`: as Django's, and refuses a database that is too old to be upgraded."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from heatmaps import schema


class Command(migrate.Command):
    def handle(self, *args: Any, database: str, **options: Any) -> None:
        try:
            schema.refuse_too_old(connections[database])
        except schema.TooOldError as refusal:
            raise CommandError(str(refusal)) from None
        super().handle(*args, database=database, **options)
