"""`manage.py shuffler enrol`: enrols people by name."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError
from django.db import transaction

from heatmaps.shuffler.management.command import ShufflerCommand, collection
from heatmaps.shuffler.models import Person

MOST_LETTERS: Final = 200


class Command(ShufflerCommand):
    help = "Enrol people: names, or files of names with one a line. Rounds that are ready keep their people."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("names", nargs="+", metavar="FILE|NAME")

    def handle(self, *args: Any, slug: str, names: list[str], **options: Any) -> None:
        where = collection(slug)
        unique_names = dict.fromkeys(name for text in names for name in _names(text))
        with transaction.atomic():
            enrolled = set(Person.objects.filter(collection=where).values_list("name", flat=True))
            new = [Person(collection=where, name=name) for name in unique_names if name not in enrolled]
            Person.objects.bulk_create(new, batch_size=1000)
        self.stdout.write(f"{len(new)} enrolled, {len(unique_names) - len(new)} were already.")


def _names(text: str) -> list[str]:
    """Reads the names of a file, or the one name. Errors: CommandError, which repeats no name."""
    path = Path(text)
    if not path.is_file() and ("/" in text or path.suffix in {".txt", ".csv"}):
        raise CommandError(f"{path} is no file; a name has neither a slash nor the ending of a file")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.is_file() else [text]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}") from None
    names = [line.strip() for line in lines]
    for number, name in enumerate(names, start=1):
        # Spreadsheets take the latter for formulas, and names get into a CSV file.
        if len(name) > MOST_LETTERS or not name.isprintable() or name.startswith(("=", "+", "-", "@")):
            raise CommandError(f"name {number} is no name: too long, or of letters that are none")
    return [name for name in names if name]
