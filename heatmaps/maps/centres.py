"""The marks of centres on the map."""

import folium
from folium.template import Template

from heatmaps.centres import Centre
from heatmaps.maps.legend import percent


class CentreMarks(folium.MacroElement):
    """Numbered points: `static/hazemap/basemap.js` draws them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.centres({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, centres: tuple[Centre, ...]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "CentreMarks"
        self.content = [
            {"lat": centre.lat, "lon": centre.lon, "text": f"{rank} · {percent(100 * centre.share)} %"}
            for rank, centre in enumerate(centres, start=1)
        ]
