"""`manage.py shuffler status`: says what is joined and how its rounds are."""

from typing import Any

from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.life.packet_file import PacketFile
from heatmaps.shuffler.management.command import ShufflerCommand
from heatmaps.shuffler.models import FINAL, Collection, Person, Round


class Command(ShufflerCommand):
    help = "List collections and their rounds, with how many reports came."

    def handle(self, *args: Any, **options: Any) -> None:
        for collection in Collection.objects.order_by("slug"):
            people = Person.objects.filter(collection=collection).count()
            self.stdout.write(f"{collection.slug} at {collection.analyser_url}: {people} enrolled")
            for row in Round.objects.filter(collection=collection).order_by("number", "opens_at"):
                self.stdout.write(f"  round {row.number} ({row.pk}): {row.state}{_numbers(row)}")


def _numbers(row: Round) -> str:
    if row.state in FINAL:
        return ""
    came = PacketFile.of_round(row).count()
    waiting = "; links not handed out yet" if round_files.read_secrets(row.pk) is not None else ""
    return f", {came} of {row.places} reports, {row.least_reports} needed{waiting}"
