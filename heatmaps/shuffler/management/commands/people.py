"""`manage.py shuffler people`: lists who is enrolled."""

from argparse import ArgumentParser
from typing import Any

from heatmaps.shuffler.management.command import ShufflerCommand, collection
from heatmaps.shuffler.models import Person


class Command(ShufflerCommand):
    help = "List the people of a collection, one a line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        for person in Person.objects.filter(collection=collection(slug)).order_by("name"):
            self.stdout.write(person.name)
