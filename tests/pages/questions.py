"""The two questions about things that are gathered on a page: about zones, and about places."""

import json
from dataclasses import dataclass

from tests import geojson


@dataclass(frozen=True, kw_only=True)
class Asked:
    page: str  # name of its address
    mechanism: str
    parameter: str
    thing: dict[str, object]  # one of those asked about
    boxes: dict[str, str]  # another one, as it is typed
    one: str  # of them, in a word

    @property
    def name_box(self):
        return f"{self.one}_name"

    @property
    def text(self):
        return json.dumps(self.thing)

    @property
    def parameters(self):
        return {self.parameter: self.thing}


ZONES = Asked(
    page="release-zones",
    mechanism="emd-zones",
    parameter="zones",
    thing=geojson.zone(),
    boxes={"west": "0.7", "south": "0.7", "east": "0.9", "north": "0.9"},
    one="zone",
)
PLACES = Asked(
    page="release-distances",
    mechanism="emd-distances",
    parameter="places",
    thing=geojson.place(),
    boxes={"latitude": "0.5", "longitude": "0.75"},
    one="place",
)
BOTH = {"zones": ZONES, "places": PLACES}
