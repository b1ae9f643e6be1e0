"""Released shares in zones for people: polygons in the classes of a legend, with number and share."""

import math
from dataclasses import dataclass
from typing import Final

import folium
from branca.element import Figure
from django.template.loader import render_to_string
from folium.template import Template

from heatmaps.maps import image, palette
from heatmaps.maps.document import Basemap, LocalMap
from heatmaps.maps.legend import FIRST, UNCERTAIN, LegendClass
from mechanisms.grid import Region
from mechanisms.zones import WITHIN_ERRORS, Zone, ZoneShares

MOST_CLASSES: Final = 5
_STEPS: Final = (1, 2, 2.5, 5, 10)
_UNCERTAIN: Final = f"class-{UNCERTAIN}"
_NOT_TOLD: Final = "not distinguishable from zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnZone:
    """A zone as it is drawn: (latitude, longitude) of its corners, closed, its class, and its sign."""

    ring: list[tuple[float, float]]
    key: str
    text: str  # its number and share; names are in the table
    middle: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneParts:
    """What a template puts together. The three texts are HTML and script of ours without text of people."""

    links: str
    body: str
    script: str
    rows: tuple[LegendClass, ...]


def zones_document(shares: ZoneShares, region: Region, *, nonce: str, title: str) -> str:
    """The HTML of released shares. `nonce` is the response's own; `title` is escaped."""
    context = {"map": zone_parts(shares, region), "nonce": nonce, "title": title}
    return render_to_string("maps/zones_document.html", context)


def zone_parts(shares: ZoneShares, region: Region) -> ZoneParts:
    """Shares as Leaflet shows them, before they become a document."""
    return parts_of(drawn_zones(shares), zone_classes(shares), region)


def parts_of(zones: tuple[DrawnZone, ...], rows: tuple[LegendClass, ...], region: Region) -> ZoneParts:
    """Rings with their signs, in that order, as Leaflet shows them."""
    root, leaflet = Figure(), LocalMap(region)
    root.add_child(leaflet)
    leaflet.add_child(Basemap(region))
    leaflet.add_child(MarkedZones(zones))
    leaflet.fit_bounds(image.bounds(region), padding=(12, 12))
    leaflet.render()  # type: ignore[no-untyped-call]  # branca annotates some methods only
    return ZoneParts(
        links=root.header.render(),
        body=root.html.render(),
        script=root.script.render(),
        rows=rows,
    )


class MarkedZones(folium.MacroElement):
    """The zones: `static/hazemap/basemap.js` draws them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.zones({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, zones: tuple[DrawnZone, ...]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "MarkedZones"
        self.content = [
            {"ring": zone.ring, "key": zone.key, "text": zone.text, "middle": zone.middle} for zone in zones
        ]


def drawn_zones(shares: ZoneShares) -> tuple[DrawnZone, ...]:
    """Large ones first, so that no zone is hidden under another."""
    step = _step(shares)
    drawn = [
        (_size(zone), _drawn(zone, number, share, _class_of(share, shares.standard_error, step)))
        for number, (zone, share) in enumerate(zip(shares.zones, shares.shares, strict=True), start=1)
    ]
    return tuple(one for _, one in sorted(drawn, key=lambda pair: -pair[0]))


def zone_classes(shares: ZoneShares) -> tuple[LegendClass, ...]:
    """The legend, strongest class first; shares that cannot be told from none are a class of their own."""
    step, count = _step(shares), _count(shares)
    lights, darks = palette.light(count), palette.dark(count)
    rows = [
        LegendClass(
            key=f"class-{index + FIRST}",
            label=f"{100 * step * index:g} – {100 * step * (index + 1):g} %",
            light=palette.hexadecimal(lights[index]),
            dark=palette.hexadecimal(darks[index]),
        )
        for index in reversed(range(count))
    ]
    light, dark = (
        palette.hexadecimal(colour) for colour in (palette.UNCERTAIN_LIGHT, palette.UNCERTAIN_DARK)
    )
    return (*rows, LegendClass(key=_UNCERTAIN, label=_NOT_TOLD, light=light, dark=dark))


def _step(shares: ZoneShares) -> float:
    """Of the classes' bounds, round."""
    least = max(0.001, *shares.shares) / MOST_CLASSES
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in _STEPS if power * step >= least * (1 - 1e-9))


def _count(shares: ZoneShares) -> int:
    return max(1, math.ceil(max(shares.shares) / _step(shares) - 1e-9))


def _class_of(share: float, standard_error: float, step: float) -> str:
    if share <= WITHIN_ERRORS * standard_error:
        return _UNCERTAIN
    return f"class-{FIRST + max(0, math.ceil(share / step - 1e-9) - 1)}"


def _drawn(zone: Zone, number: int, share: float, key: str) -> DrawnZone:
    ring = [(lat, lon) for lon, lat in zone.degrees]
    lats, lons = zip(*ring, strict=True)
    middle = ((min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2)
    return DrawnZone(ring=ring, key=key, text=f"{number} · {100 * share:.1f} %", middle=middle)


def _size(zone: Zone) -> int:
    lons, lats = zip(*zone.corners, strict=True)
    return int((max(lons) - min(lons)) * (max(lats) - min(lats)))
