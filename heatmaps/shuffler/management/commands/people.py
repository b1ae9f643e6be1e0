"""`manage.py shuffler people`: lists who is enrolled."""

from argparse import ArgumentParser
from typing import Any

from heatmaps.shuffler.management.command import ShufflerCommand, collection


class Command(ShufflerCommand):
    help = "List the people of a collection, one a line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        for name in collection(slug).people.order_by("name").values_list("name", flat=True):
            self.stdout.write(name)
