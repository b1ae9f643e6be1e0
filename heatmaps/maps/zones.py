"""Draws released zone shares: polygons in the classes of a legend, with number and share."""

import math
from typing import Final

from heatmaps.maps.document import MapParts
from heatmaps.maps.legend import FIRST, UNCERTAIN, LegendClass, numbered_rows, uncertain_row
from heatmaps.maps.rings import DrawnRing, parts_of
from heatmaps.numbers import Scale, number, share
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.zones import Zone, ZoneShares
from mechanisms.space.grid import Region

LEGEND: Final = "Share of all people in a zone"
MEANING: Final = "of all people; ± is what noise may add, 19 times in 20"
MOST_CLASSES: Final = 5
_STEPS: Final = (1, 2, 2.5, 5, 10)


def zone_parts(shares: ZoneShares, region: Region) -> MapParts:
    """Returns shares as Leaflet shows them, before they become a document."""
    rows = zone_classes(shares)
    return parts_of(drawn_zones(shares), region, legend=LEGEND, meaning=MEANING, rows=rows)


def drawn_zones(shares: ZoneShares) -> tuple[DrawnRing, ...]:
    """Returns large zones first, so that none is hidden under another."""
    sized_rings = [
        (_size(zone), _ring_of(zone, rank, share, shares))
        for rank, (zone, share) in enumerate(zip(shares.zones, shares.shares, strict=True), start=1)
    ]
    return tuple(ring for _, ring in sorted(sized_rings, key=lambda pair: -pair[0]))


def zone_classes(shares: ZoneShares) -> tuple[LegendClass, ...]:
    """Returns the legend, strongest class first; shares that cannot be told from none are a class of their
    own."""
    step = _step(shares)
    count = max(1, math.ceil(max(shares.shares) / step - 1e-9))
    labels = [f"{number(100 * step * index)} – {share(step * (index + 1))}" for index in range(count)]
    return (*numbered_rows(labels), uncertain_row("not distinguishable from zero"))


def _step(shares: ZoneShares) -> float:
    """Returns the step of the classes' bounds, round."""
    least = max(0.001, *shares.shares) / MOST_CLASSES
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in _STEPS if power * step >= least * (1 - 1e-9))


def _class_of(share: float, standard_error: float, step: float) -> str:
    if share <= WITHIN_ERRORS * standard_error:
        return f"class-{UNCERTAIN}"
    return f"class-{FIRST + max(0, math.ceil(share / step - 1e-9) - 1)}"


def _ring_of(zone: Zone, rank: int, share: float, shares: ZoneShares) -> DrawnRing:
    error = shares.standard_error
    scale = Scale.of_shares(error)
    percent, within = scale.nearest(share), WITHIN_ERRORS * error
    unclear = "" if share > within else ", not clearly above zero"
    ring = [(lat, lon) for lon, lat in zone.degrees]
    lats, lons = zip(*ring, strict=True)
    return DrawnRing(
        corners=ring,
        key=_class_of(share, error, _step(shares)),
        text=f"{rank} · {percent} %",
        middle=((min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2),
        name=f"Zone {rank}",
        told=f"{percent} ± {scale.up(within)} %{unclear}",
        weight=share,
    )


def _size(zone: Zone) -> int:
    lons, lats = zip(*zone.corners, strict=True)
    return int((max(lons) - min(lons)) * (max(lats) - min(lats)))
