"""The form that asks for shares in zones: GeoJSON typed, as a file, or gathered rectangle by rectangle."""

from typing import Any

from heatmaps.slices import EDGES
from heatmaps.views.forms.gathering import GatheringForm, geojson_box, name_box, whole_degrees
from heatmaps.views.forms.shared import DecimalText, degrees_field
from mechanisms.check import ParameterError
from mechanisms.metric.linear_zones import EmdZones
from mechanisms.zones import MOST_ZONES, Zone, Zones


class ZonesForm(GatheringForm):
    """Zones with one soft edge."""

    mechanism = EmdZones.name
    address = "release-zones"
    template = "releases/new_zones.html"
    parameter = "zones"
    others = ("margin_m",)
    collection = Zones
    one = "zone"
    nothing_yet = "Draw a rectangle, choose a file, or paste GeoJSON: there is no zone yet."

    west, south, east, north = (degrees_field() for _ in EDGES)
    zone_name = name_box("Name of the rectangle")
    zones = geojson_box(
        "Zones",
        f"GeoJSON: up to {MOST_ZONES} polygons without holes, in degrees, named by their property "
        "“name”; or as this page writes them. Zones are public: draw them without looking at the data.",
    )
    margin_m = DecimalText(
        label="Soft edge",
        required=False,
        help_text="A check-in outside a zone counts less and less over so many metres. Wider takes less "
        "noise. Left empty: twice the dataset’s radius.",
    )

    def boxed(self, typed: dict[str, Any], number: int) -> list[Zone]:
        """The rectangle of the four boxes."""
        if not any(typed.get(edge) for edge in EDGES):
            return []
        west, south, east, north = (
            whole_degrees(typed, edge, 180 if edge in ("west", "east") else 90) for edge in EDGES
        )
        if west >= east or south >= north:
            raise ParameterError("east" if west >= east else "north", "this", "more than its other side")
        corners = ((west, south), (east, south), (east, north), (west, north))
        return [Zone(name=typed.get("zone_name") or f"Zone {number}", corners=corners)]
