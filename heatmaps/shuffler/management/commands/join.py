"""`manage.py shuffler join`: stores a collection that an analyser entrusts to this shuffler."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug

from heatmaps.shuffler.life import analysers
from heatmaps.shuffler.management.command import ShufflerCommand
from heatmaps.shuffler.models import Collection


class Command(ShufflerCommand):
    help = "Join a collection; once more with a new token where the analyser gave one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("analyser_url", help="origin of the analyser, such as https://maps.example")
        parser.add_argument("slug")
        parser.add_argument("--token-file", required=True, type=Path, help="file with the shuffler token")
        parser.add_argument("--operator", required=True, help="who runs this shuffler, as devices are told")
        parser.add_argument("--url", required=True, help="where devices find this shuffler")

    def handle(
        self,
        *args: Any,
        analyser_url: str,
        slug: str,
        token_file: Path,
        operator: str,
        url: str,
        **options: Any,
    ) -> None:
        for address in (analyser_url, url):
            if not analysers.is_safe(address):
                raise CommandError(f"{address} is no https address without a query, nor one of this machine")
        try:
            validate_slug(slug)
            token = token_file.read_text().strip()
        except ValidationError:
            raise CommandError(f"{slug} is no slug") from None
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{token_file} cannot be read: {type(error).__name__}") from None
        if not token or not token.isascii() or not token.isprintable():
            raise CommandError(f"{token_file} holds no token")
        fields = {"analyser_url": analyser_url.rstrip("/"), "operator": operator, "url": url.rstrip("/")}
        collection, is_new = Collection.objects.get_or_create(slug=slug, defaults=fields)
        if not is_new and collection.analyser_url != fields["analyser_url"]:
            raise CommandError(f"{slug} was joined at {collection.analyser_url}")
        analysers.write_token(collection, token)
        Collection.objects.filter(pk=collection.pk).update(**fields)
        self.stdout.write(f"{slug} is {'joined' if is_new else 'joined anew'}.")
