"""Draws two released maps over the region that both cover: one frame, whose scripts swipe and subtract."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from heatmaps.maps import palette
from heatmaps.maps.document import MapLayer, MapParts, basemap, content_of, frame
from heatmaps.maps.streets import Streets
from mechanisms.space.grid import Region

Heat = Mapping[str, Any]  # as `heatmaps.maps.heat.heat_of` prepares it


def comparison_parts(maps: Sequence[Heat], overlap: Region, names: Sequence[str]) -> MapParts:
    """Draws two maps over their overlap. names: of both, short."""
    content = {
        "maps": list(maps),
        "names": list(names),
        "region": list(overlap),
        "metres": [overlap.width_m, overlap.height_m],
        "width": max(heat["width"] for heat in maps),
        "rate": maps[0]["rate"],
        "isBound": any(heat["isBound"] for heat in maps),
        "palettes": maps[0]["palettes"],
        "change": palette.CHANGE,
        "basemap": basemap(overlap).content,
    }
    return MapParts(**content_of(overlap, [MapLayer("compare", content)]), legend="")


def comparison_document(
    parts: MapParts,
    *,
    nonce: str,
    title: str,
    streets: Streets,
    districts: Sequence[Mapping[str, str]],
) -> str:
    """Returns the HTML of a comparison, from its parts; the rest is as of `document`."""
    page = {
        "map": parts,
        "frame": frame(),
        "nonce": nonce,
        "title": title,
        "streets": streets,
        "districts": [*districts],
    }
    return render_to_string("maps/comparison.html", page)
