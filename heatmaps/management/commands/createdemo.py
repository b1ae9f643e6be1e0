"""`manage.py createdemo`: creates first accounts and a synthetic city; keeps what exists."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from heatmaps.demo import accounts, datasets


class Command(BaseCommand):
    help = "Make the first accounts and the demo city (two datasets of synthetic check-ins, one release)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--empty", action="store_true", help="accounts and credentials only, no city")

    def handle(self, *args: Any, empty: bool, **options: Any) -> None:
        steward = accounts.ensure()
        if not empty:
            datasets.ensure(steward, self._say)
        self._say(f"name and password to sign in with: {accounts.credentials_path()}")
        self._say(f"the administrator's: {accounts.administrator_credentials_path()}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
