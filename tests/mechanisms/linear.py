"""A made-up city, records in it, and the questions of emd-zones and emd-distances about them."""

from fractions import Fraction

import numpy as np
import ot

from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.metric.linear.distances import EmdDistances
from mechanisms.metric.linear.zones import EmdZones
from mechanisms.records.aggregation import item_records
from mechanisms.space.grid import FINEST_LEVEL, Region, _degree_lengths_m
from tests.geojson import collection, place, zone

CITY = Region(-97.9, 30.1, -97.5, 30.5)
BOXES = (
    Region(-97.8, 30.2, -97.75, 30.25),
    Region(-97.75, 30.2, -97.7, 30.25),
    Region(-97.6, 30.4, -97.5, 30.5),
)


def records(random):
    """Two records, half of the check-ins near a box's edge; one may be the other, moved a little."""
    sizes = random.integers(1, 6, size=2)
    lat, lon = (random.uniform(low, high, size=2 * 6) for low, high in ((30.1, 30.5), (-97.9, -97.5)))
    near = random.random(12) < 0.5
    lat, lon = (
        np.where(near, 30.25 + random.normal(0, 0.004, 12), lat),
        np.where(near, -97.75 + lon * 1e-4, lon),
    )
    one, other = (lat[: sizes[0]], lon[: sizes[0]]), (lat[6 : 6 + sizes[1]], lon[6 : 6 + sizes[1]])
    if random.random() < 0.5:
        other = one[0] + random.normal(0, 1e-3, sizes[0]), one[1] + random.normal(0, 1e-3, sizes[0])
    return one, tuple(map(np.asarray, other))


def emd_m(one, other):
    """Exact earth mover's distance of two records, by WGS84 metres at the middle latitude of each pair."""
    north, east = (np.subtract.outer(a, b) for a, b in zip(one, other, strict=True))
    middle = np.add.outer(one[0], other[0]) / 2
    lengths = np.array([[_degree_lengths_m(float(lat)) for lat in row] for row in middle])
    cost = np.hypot(north * lengths[..., 0], east * lengths[..., 1])
    even = [np.full(len(part[0]), 1 / len(part[0])) for part in (one, other)]
    return ot.emd2(*even, cost)


def read(made, *several):
    """Records of (latitudes, longitudes), one a person."""
    persons = np.repeat(np.arange(len(several)), [len(lat) for lat, _ in several])
    lat, lon = (np.concatenate(parts) for parts in zip(*several, strict=True))
    cells = CITY.morton(lat, lon, FINEST_LEVEL)
    return item_records(persons=persons, cells=cells, counts=np.ones_like(cells), level=made.level)


def boxes(several):
    rings = [[[w, s], [e, s], [e, n], [w, n], [w, s]] for w, s, e, n in map(tuple, several)]
    return collection(zone(f"box {at}", ring) for at, ring in enumerate(rings))


def points(*places):
    return collection(place(f"site {at}", spot) for at, spot in enumerate(places))


NEAR = boxes(BOXES)  # two of three touch: k = 2, one noise for all
APART = boxes((BOXES[0], BOXES[2]))  # k = 1: noise on each
SOUTH = points([-97.75, 30.3], [-97.76, 30.3], [-97.75, 30.31])
ONE = points([-97.75, 30.3])


def zones(asked=NEAR, kind=EmdZones, *, margin_m=Fraction(800), **facts):
    return _calibrated(kind, **facts, zones=asked, margin_m=margin_m)


def distances(asked=SOUTH, kind=EmdDistances, **facts):
    return _calibrated(kind, **facts, places=asked)


def _calibrated(kind, *, epsilon=1, radius_m=400, persons=3, **parameters):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(epsilon), radius_m=Fraction(radius_m))
    return kind.calibrate(target, region=CITY, persons=persons, **parameters)
