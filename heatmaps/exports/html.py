"""The map as one HTML file that opens offline: script, style and pictures are in it, nothing is asked for."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from heatmaps import maps
from heatmaps.exports.released import Released
from heatmaps.exports.sheet_words import in_words

TABLE_ROWS: Final = 15
SCRIPTS: Final = ("leaflet/leaflet.js", "hazemap/basemap.js")
STYLES: Final = ("leaflet/leaflet.css", "hazemap/map.css", "hazemap/standalone.css")


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with its legend, its table and its release sheet."""
    found = maps.map_parts(released.heatmap, released.region)
    context = {
        "map": found,
        "rows": maps.top_regions(released.heatmap, released.region, most=TABLE_ROWS),
        "centres": found.centres,
        "regions": released.heatmap.values.size,
    }
    colours = render_to_string("maps/legend_colours.css", {"legend": found.legend})
    write_page(released, "exports/map.html", context, script=found.script, style=colours, stream=stream)


def write_page(
    released: Released,
    template: str,
    context: Mapping[str, object],
    *,
    script: str,
    style: str = "",
    stream: BinaryIO,
) -> None:
    """One script and one style element stand in the file, and its own content security policy allows these
    two by their digests, and nothing else."""
    script = "\n".join([*map(_asset, SCRIPTS), script])
    style = "\n".join([*map(_asset, STYLES), style])
    page = {
        "script": script,
        "style": style,
        "script_digest": _digest(script, "script"),
        "style_digest": _digest(style, "style"),
        "sheet": in_words(released.sheet),
    }
    stream.write(render_to_string(template, {**page, **context}).encode())


def _asset(name: str) -> str:
    """The text of a static file, without the line that makes developer tools ask for another file."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"static file {name} is missing; run `make setup`")
    lines = Path(path).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def _digest(text: str, element: str) -> str:
    """Of a content security policy: over exactly what stands between the element's tags."""
    if f"</{element}" in text.lower() or "<!--" in text or "\r" in text:
        raise ValueError(f"the text would not stay in one {element} element")
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
