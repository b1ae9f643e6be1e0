"""Takes coast, water, borders and a drawer of streets from the front-end packages (`manage.py ground`)."""

import shutil
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.maps.ground import index
from heatmaps.maps.streets import DRAWER


class Command(BaseCommand):
    help = (
        "Take from the packages that `npm ci` installed what maps need: coast, water, borders and what draws "
        "streets"
    )

    def handle(self, *args: object, **options: object) -> None:
        packages = settings.BASE_DIR / "node_modules"
        try:
            index.build(packages, settings.GROUND_DIR)
            _copy(packages / "protomaps-leaflet" / "dist" / DRAWER, settings.FRONT_DIR)
        except (FileNotFoundError, ValueError) as error:
            raise CommandError(
                f"the ground of maps is not installed: {error}; `make setup` does it"
            ) from None


def _copy(script: Path, folder: Path) -> None:
    """For everybody to read; errors: FileNotFoundError."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / script.name
    shutil.copyfile(script, copy)
    folder.chmod(0o755)
    copy.chmod(0o644)
