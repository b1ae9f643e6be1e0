"""`manage.py shuffler invitations`: hands out the links of a round, once."""

import csv
import io
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import segno
from django.core.management.base import CommandError

from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.management.command import ShufflerCommand, collection
from heatmaps.shuffler.models import FINAL, Collection, Round, State


class Command(ShufflerCommand):
    help = "Write the links of a round as CSV. They are shown once: what is stored of them is their SHA-256."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("number", type=int)
        parser.add_argument("--output", type=Path, help="new file for the links; default: standard output")
        parser.add_argument("--qr", type=Path, metavar="DIR", help="folder for QR codes, an SVG file each")

    def handle(
        self, *args: Any, slug: str, number: int, output: Path | None, qr: Path | None, **options: Any
    ) -> None:
        ready = _round(collection(slug), number)
        links = _links(ready)
        try:
            files = [_write_code(qr, place, link) for place, (_, link) in enumerate(links, 1)] if qr else []
            text = _as_csv(links, files)
            if output is None:
                self.stdout.write(text)
                self.stdout.flush()
            else:
                _write(text, output)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}; the links are still there") from None
        # Only now that they are on disk, or were shown.
        round_files.destroy_secrets(ready.pk)


def _round(where: Collection, number: int) -> Round:
    """Returns a round that people can be invited to. Errors: CommandError."""
    stored_round = Round.objects.filter(collection=where, number=number).exclude(state__in=FINAL).first()
    if stored_round is None or stored_round.state == State.CLOSING:
        raise CommandError(f"{where.slug} has no round {number} that people can be invited to")
    if stored_round.state == State.PREPARED:
        raise CommandError("the analyser has not fixed the facts of this round yet")
    return stored_round


def _links(ready: Round) -> list[tuple[str, str]]:
    """Returns names and links. Errors: CommandError."""
    base = f"{ready.collection.url}/contribute/#{ready.pk}"
    if ready.open_link:
        return [("", base)]
    secrets = round_files.read_secrets(ready.pk)
    if secrets is None:
        raise CommandError("the links of this round were handed out; they are stored nowhere")
    return [(name, f"{base}.{secret}") for name, secret in secrets]


def _write_code(folder: Path, place: int, link: str) -> str:
    """Writes a code and returns its file's name: people's names are in the list alone."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{place:05}.svg"
    segno.make(link, micro=False).save(str(folder / name), scale=4, title="Hazemap")
    return name


def _as_csv(links: list[tuple[str, str]], files: list[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "link", *(["file"] if files else [])])
    for place, (name, link) in enumerate(links):
        writer.writerow([name, link, *files[place : place + 1]])
    return text.getvalue()


def _write(text: str, output: Path) -> None:
    with output.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
