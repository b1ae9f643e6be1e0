"""The form that asks for mean distances to places: GeoJSON typed, as a file, or gathered one by one."""

from typing import Any

from heatmaps.views.forms.gathering import GatheringForm, geojson_box, name_box, whole_degrees
from heatmaps.views.forms.shared import degrees_field
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.places import MOST_PLACES, Place, Places


class PlacesForm(GatheringForm):
    """Places, each by its latitude and longitude."""

    mechanism = EmdDistances.name
    address = "release-distances"
    template = "releases/new_distances.html"
    parameter = "places"
    collection = Places
    one = "place"
    nothing_yet = "Type a latitude and a longitude, choose a file, or paste GeoJSON: there is no place yet."

    latitude, longitude = degrees_field(), degrees_field()
    place_name = name_box("Name of the place")
    places = geojson_box(
        "Places",
        f"GeoJSON: up to {MOST_PLACES} points in the dataset’s region, in degrees, named by their property "
        "“name”; or as this page writes them. Places are public: choose them without looking at the data.",
    )

    def boxed(self, typed: dict[str, Any], number: int) -> list[Place]:
        """The place of the two boxes."""
        if not (typed.get("latitude") or typed.get("longitude")):
            return []
        at = whole_degrees(typed, "longitude", 180), whole_degrees(typed, "latitude", 90)
        return [Place(name=typed.get("place_name") or f"Place {number}", at=at)]
