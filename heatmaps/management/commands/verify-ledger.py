# ruff: noqa: N999 - Django takes the name of a command from its file
"""`manage.py verify-ledger [SLUG]`: recomputes chains, balances and states; names the first bad row."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from heatmaps.ingest.row_copy import without_upload
from heatmaps.ledger.verification import Report, verify
from heatmaps.models import Dataset


class Command(BaseCommand):
    help = (
        "Recompute every ledger's chain, balances and states; exit with 1 and name the first bad row. A "
        "closed ledger is named, and is no error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="?", help="one dataset; without it, all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        bad = 0
        for dataset in self._datasets(options["slug"]):
            report = verify(dataset)
            self.stdout.write(_line(dataset, report))
            bad += not (report.ok or report.closed)
        if options["slug"] is None and without_upload():
            raise CommandError("there are check-ins that belong to no upload; no release reads them")
        if bad:
            raise CommandError(f"{bad} ledger{'s do' if bad > 1 else ' does'} not verify")

    def _datasets(self, slug: str | None) -> list[Dataset]:
        datasets = Dataset.objects.order_by("slug")
        selection = list(datasets if slug is None else datasets.filter(slug=slug))
        if slug is not None and not selection:
            raise CommandError(f"no dataset is named {slug}")
        return selection


def _line(dataset: Dataset, report: Report) -> str:
    if report.ok:
        return f"{dataset.slug}: ok, {report.events} events"
    if report.closed:
        return f"{dataset.slug}: CLOSED, event {report.first_bad_sequence}: {report.problem}"
    where = "" if report.first_bad_sequence is None else f"event {report.first_bad_sequence}: "
    return f"{dataset.slug}: BAD, {where}{report.problem}"
