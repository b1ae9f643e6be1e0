"""Says which streets a map shows: those of a file of ours, of another host, or none."""

import json
import logging
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.urls import reverse

from heatmaps.maps.pmtiles import VECTOR, Archive, NotReadable

DRAWER: Final = "protomaps-leaflet.js"  # a static file of `settings.FRONT_DIR`
MISSING: Final = "Streets need protomaps-leaflet; `make setup` with npm adds it."
OPENSTREETMAP: Final = "© OpenStreetMap contributors (ODbL)"
_LONGEST_CREDIT: Final = 300
_log = logging.getLogger(__name__)

Layer = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streets:
    """Holds what lies between the ground and what was released, the lowest first."""

    layers: tuple[Layer, ...] = ()  # as `static/hazemap/streets.js` takes them
    host: str = ""  # another one that is asked for tiles, and sees where a reader looks
    origin: str = ""  # the same as a content security policy names it

    @property
    def as_json(self) -> str:
        return json.dumps(self.layers)

    @property
    def drawer(self) -> str:
        """Returns the static file that draws vector tiles, where there are any."""
        return DRAWER if any(layer["kind"] == VECTOR for layer in self.layers) else ""


def streets_of(*, public: bool) -> Streets:
    """Returns the streets of the settings.

    public: of a map that needs no account; a foreign host needs a setting more.
    """
    tiles = settings.TILES if not public or (settings.TILES and settings.TILES.public) else None
    own = _own(settings.BASEMAP) if settings.BASEMAP else None
    layers = [layer for layer in (tiles and _foreign(tiles.address, tiles.attribution), own) if layer]
    return Streets(
        layers=tuple(layers), host=tiles.host if tiles else "", origin=tiles.origin if tiles else ""
    )


def may_draw() -> bool:
    """Tells whether `make setup` could install what draws vector tiles."""
    return finders.find(DRAWER) is not None


def _foreign(address: str, attribution: str) -> Layer:
    return {"kind": "tiles", "address": address, "attribution": attribution}


def _own(path: Path) -> Layer | None:
    """Returns the layer of a file of ours; None where it cannot be read any more."""
    try:
        archive = Archive.open(path)
        credit = _credit(archive)
    except (OSError, NotReadable) as error:
        _log.warning("HAZEMAP_BASEMAP cannot be read: %s", error)
        return None
    layer: Layer = {"bounds": archive.bounds, "zooms": archive.zooms}
    if archive.kind != VECTOR:
        tiles = reverse("basemap-tile", args=[0, 0, 0]).removesuffix("0/0/0") + "{z}/{x}/{y}"
        return layer | {"kind": "raster", "address": f"{tiles}?{archive.version}", "attribution": credit}
    if not may_draw():
        return {"kind": "missing", "attribution": MISSING}
    address = f"{reverse('basemap')}?{archive.version}"
    return layer | {"kind": VECTOR, "address": address, "attribution": f"Streets: {credit or OPENSTREETMAP}"}


@lru_cache(maxsize=4)
def _credit(archive: Archive) -> str:
    """Returns the source that the file asks to name, as text."""
    reader = _Text()
    reader.feed(str(archive.metadata.get("attribution", "")))
    return " ".join("".join(reader.parts).split())[:_LONGEST_CREDIT]


class _Text(HTMLParser):
    """Reads what an HTML text says, without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)
