"""`manage.py createdemo`: creates first accounts and a synthetic city; keeps what exists."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.demo import accounts, datasets
from heatmaps.management import demo_collection
from heatmaps.management.demo_collection import DemoRound
from heatmaps.record.hold import OnHold
from heatmaps.record.place import RecordError


class Command(BaseCommand):
    help = "Make the first accounts and the demo city (two datasets of synthetic check-ins, one release)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--empty", action="store_true", help="accounts and credentials only, no city")
        usual = DemoRound()
        more = parser.add_argument_group("a round of devices, which takes some minutes")
        more.add_argument("--collection", action="store_true", help="run a round of simulated devices, too")
        more.add_argument("--devices", type=int, default=usual.devices, help="how many")
        more.add_argument("--seconds", type=int, default=usual.seconds, help="how long the round is open")
        more.add_argument("--port", type=int, default=usual.port, help="of the server meanwhile")
        more.add_argument("--shuffler-port", type=int, default=usual.shuffler_port)

    def handle(
        self,
        *args: Any,
        empty: bool,
        collection: bool,
        devices: int,
        seconds: int,
        port: int,
        shuffler_port: int,
        **options: Any,
    ) -> None:
        steward = accounts.ensure()
        try:
            if not empty:
                datasets.ensure(steward, self._say)
            if collection:
                demo_round = DemoRound(
                    devices=devices, seconds=seconds, port=port, shuffler_port=shuffler_port
                )
                demo_collection.run(steward, demo_round, self._say)
        except OnHold as refusal:
            raise CommandError(f"{refusal}: `{settings.PROGRAM} resume --help`") from None
        except (demo_collection.CannotRun, RecordError) as refusal:
            raise CommandError(str(refusal)) from None
        self._say(f"name and password to sign in with: {accounts.credentials_path()}")
        self._say(f"the administrator's: {accounts.administrator_credentials_path()}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
