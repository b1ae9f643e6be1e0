"""Released shares in zones for people: polygons in the classes of a legend, with number and share."""

import math
from typing import Final

from heatmaps.maps import palette
from heatmaps.maps.legend import FIRST, UNCERTAIN, LegendClass
from heatmaps.maps.rings import DrawnRing, RingParts, parts_of
from mechanisms.grid import Region
from mechanisms.prediction import WITHIN_ERRORS
from mechanisms.zones import Zone, ZoneShares

LEGEND: Final = "Share of all persons in a zone"
MOST_CLASSES: Final = 5
_STEPS: Final = (1, 2, 2.5, 5, 10)
_UNCERTAIN: Final = f"class-{UNCERTAIN}"
_NOT_TOLD: Final = "not distinguishable from zero"


def zone_parts(shares: ZoneShares, region: Region) -> RingParts:
    """Shares as Leaflet shows them, before they become a document."""
    return parts_of(drawn_zones(shares), region, legend=LEGEND, rows=zone_classes(shares))


def drawn_zones(shares: ZoneShares) -> tuple[DrawnRing, ...]:
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


def _drawn(zone: Zone, number: int, share: float, key: str) -> DrawnRing:
    ring = [(lat, lon) for lon, lat in zone.degrees]
    lats, lons = zip(*ring, strict=True)
    middle = ((min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2)
    return DrawnRing(corners=ring, key=key, text=f"{number} · {100 * share:.1f} %", middle=middle)


def _size(zone: Zone) -> int:
    lons, lats = zip(*zone.corners, strict=True)
    return int((max(lons) - min(lons)) * (max(lats) - min(lats)))
