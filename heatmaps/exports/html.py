"""Writes the map as one HTML file that opens offline and requests nothing."""

import base64
import hashlib
from typing import BinaryIO, Final

from django.template.loader import render_to_string

from heatmaps.exports.content import Released
from heatmaps.exports.sheet_words import in_words
from heatmaps.maps.document import frame
from heatmaps.maps.scripts import LEAFLET, RELEASED_MAP, asset, script_of
from heatmaps.origins.devices import DEVICES
from heatmaps.origins.uploads import UPLOADS
from heatmaps.result_kinds import kind_of_result

STYLES: Final = ("leaflet/leaflet.css", "hazemap/map.css", "hazemap/standalone.css")


def write_html(released: Released, stream: BinaryIO) -> None:
    """Writes the web map with its legend, its numbers and its release sheet.

    One script and one style element stand in the file, and its own content security policy allows these two
    by their digests, and nothing else.
    """
    kind = kind_of_result(released.result)
    parts = kind.leaflet_parts(released.result, released.region)
    colours = render_to_string("maps/legend_colours.css", {"map": parts})
    script = "\n".join([asset(LEAFLET), script_of(RELEASED_MAP)])
    style = "\n".join([*map(asset, STYLES), colours])
    page = {
        "map": parts,
        "frame": frame(),
        "table": kind.tabulated(released.result, released.region),
        "table_template": kind.table_template,
        "origin": DEVICES if "collection" in released.sheet else UPLOADS,
        "script": script,
        "style": style,
        "script_digest": digest(script, "script"),
        "style_digest": digest(style, "style"),
        "sheet": in_words(released.sheet),
    }
    stream.write(render_to_string("exports/map.html", page).encode())


def digest(text: str, element: str) -> str:
    """Returns a source of a content security policy: over exactly what stands between the element's tags."""
    if f"</{element}" in text.lower() or "<!--" in text or "\r" in text:
        raise ValueError(f"the text would not stay in one {element} element")
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
