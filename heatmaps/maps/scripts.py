"""Joins the scripts of maps: each page with a map has one, behind Leaflet and the data that it draws."""

from functools import cache
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders

from heatmaps.maps.script_bundle import bundle

LEAFLET: Final = "leaflet/leaflet.js"  # a classic script, and whole
RELEASED_MAP: Final = "released_map.js"
# Modules of `static/hazemap/` from which a page's script is joined.
ENTRIES: Final = (RELEASED_MAP, "compared_maps.js", "new_dataset.js", "new_release_map.js")


def script_of(entry: str) -> str:
    """Returns the module and all that it imports as one classic script.

    It is joined once; with `DEBUG`, of the files as they are now. Errors: FileNotFoundError, BundleError.
    """
    return _bundle_of(entry) if settings.DEBUG else _kept_bundle_of(entry)


def asset(name: str) -> str:
    """Returns the text of a static file, without the line that makes developer tools ask for another file."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"static file {name} is missing; run `make setup`")
    lines = Path(path).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def _bundle_of(entry: str) -> str:
    return bundle(entry, lambda module: asset(f"hazemap/{module}"))


_kept_bundle_of: Final = cache(_bundle_of)
