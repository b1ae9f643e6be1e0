"""`manage.py shuffler remove`: ends a person's enrolment."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from heatmaps.shuffler.management.command import ShufflerCommand, collection
from heatmaps.shuffler.models import Person


class Command(ShufflerCommand):
    help = "Remove a person. Nothing stored says which invitations were theirs: those given out stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")

    def handle(self, *args: Any, slug: str, name: str, **options: Any) -> None:
        removed, _ = Person.objects.filter(collection=collection(slug), name=name).delete()
        if not removed:
            raise CommandError("nobody of that name is enrolled")
        self.stdout.write("Removed; the next round has no invitation for them.")
