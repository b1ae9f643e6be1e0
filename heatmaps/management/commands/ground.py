"""Takes what is made of front-end packages: ground and streets of maps, and what seals reports on devices."""

import re
import shutil
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from heatmaps.maps.ground import index, licences
from heatmaps.maps.streets import DRAWER
from heatmaps.places import pack

SEALING: Final = "hpke"  # a folder of `settings.FRONT_DIR`, as the contributors' page has it
_PACKAGES: Final = ("common", "core", "dhkem-x25519")
# `import … from "@hpke/common"`: a browser finds no package by its name.
_NAMED: Final = re.compile(r'(\bfrom\s*)"@hpke/([a-z0-9-]+)"')
_IMPORTED: Final = re.compile(r'^(?:import|export)\b[^;"]*\bfrom\s*"(\.[^"]+)"', re.MULTILINE)


class Command(BaseCommand):
    help = (
        "Pack the names of places. Take from the packages that `npm ci` installed what maps need: coast, "
        "water, borders and what draws streets; and what seals reports on devices"
    )

    def handle(self, *args: object, **options: object) -> None:
        pack.build(settings.PLACES_DIR)  # of an installed package: it is there without npm, too
        for public in (settings.PLACES_DIR, settings.GROUND_DIR, settings.GROUND_DIR.parent):
            public.chmod(0o755)
        packages = settings.BASE_DIR / "node_modules"
        try:
            take_sealing(packages / "@hpke", settings.FRONT_DIR / SEALING)
            index.build(packages, settings.GROUND_DIR)
            drawer = (packages / "protomaps-leaflet" / "dist" / DRAWER).read_text(encoding="utf-8")
            _write(settings.FRONT_DIR / DRAWER, drawer)
            texts = licences.texts(packages, settings.BASE_DIR / "package-lock.json")
            _write(settings.FRONT_DIR / licences.FILE, texts)
        except (FileNotFoundError, ValueError) as error:
            raise CommandError(
                f"the ground of maps is not installed: {error}; `make setup` does it"
            ) from None


def take_sealing(packages: Path, folder: Path) -> None:
    """Writes the packages' modules, which import each other by relative addresses there.

    Only what `core` and `dhkem-x25519` need is taken. Errors: FileNotFoundError.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in _PACKAGES:
        _write(folder / name / "LICENSE.txt", (packages / name / "LICENSE").read_text(encoding="utf-8"))
    folder.chmod(0o755)
    waiting, copied = [Path(name) / "mod.js" for name in _PACKAGES], set[Path]()
    while waiting:
        module = waiting.pop()
        if module in copied:
            continue
        copied.add(module)
        name, inside = module.parts[0], Path(*module.parts[1:])
        text = (packages / name / "esm" / inside).read_text(encoding="utf-8")
        up = "../" * (len(module.parts) - 1)
        text = _NAMED.sub(rf'\1"{up}\2/mod.js"', text)
        _write(folder / module, text)
        waiting += [_beside(module, address) for address in _IMPORTED.findall(text)]


def _beside(module: Path, address: str) -> Path:
    """Returns the module that is imported by a relative address."""
    parts = [*module.parts[:-1]]
    for part in address.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return Path(*parts)


def _write(path: Path, text: str) -> None:
    """Writes a file for everybody to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o755)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
