# ruff: noqa: N999 - Django takes the name of a command from its file
"""`manage.py close-ledger SLUG --reason …`: ends a dataset whose ledger does not verify."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.ledger.errors import InvalidLimit, LedgerDamaged
from heatmaps.management.closing import CannotClose, close
from heatmaps.models import Dataset


class Command(BaseCommand):
    help = (
        "Close a dataset whose ledger does not verify, for good: nothing of its chain counts as verified. "
        "What is queued ends without a result and keeps its charge, its maps are for members alone, and its "
        "check-ins are deleted. Its auditors read the reason. Other datasets go on. As the owner of the "
        "tables."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the dataset")
        parser.add_argument("--reason", required=True, help="stands in its ledger")

    def handle(self, *args: Any, slug: str, reason: str, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None:
            raise CommandError(f"no dataset is named {slug}")
        try:
            sequence = close(dataset, reason=reason)
        except CannotClose as refusal:
            raise CommandError(f"{slug}: {refusal}; nothing was closed") from None
        except LedgerDamaged:
            raise CommandError(f"{slug}: the database takes no event after the last one") from None
        except InvalidLimit as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"{slug}: closed by event {sequence}. What was charged to its people is not known: count all "
            "that its limits allowed before you make a new dataset of them."
        )
