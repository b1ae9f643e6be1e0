"""A question to a child that plans for every mechanism of whole records, and what its draw reads."""

from fractions import Fraction

import numpy as np

from heatmaps.children.calibrated import MechanismQuestion
from mechanisms.catalogue import registry
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.records.aggregation import item_records
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import FINEST_LEVEL, Region
from tests.geojson import collection, place, zone

CITY = Region(-97.9, 30.1, -97.5, 30.5)
ZONES = collection([zone("Old town", [[-97.8, 30.2], [-97.75, 30.2], [-97.75, 30.25], [-97.8, 30.2]])])
PLACES = collection([place("Market", [-97.75, 30.3])])
NAMES = [entry.name for entry in registry.entries() if entry.reads != "masses"]
# Large squares: what is owed does not depend on them, and their account is computed in a moment.
OWN = {
    "emd-zones": {"zones": ZONES},
    "emd-distances": {"places": PLACES},
    **{name: {"cell_m": 600, "reach_m": "700.5"} for name in ("sgdl-shuffle", "geo-shuffle", "rr-shuffle")},
}


def question(name, *, epsilon="1/3", resolution=16, own=None):
    """own: the mechanism's own parameters, in place of those in `OWN`."""
    entry = registry.get(name)
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(epsilon),
        delta=entry.delta(None),
        radius_m=Fraction(600),
        expected_persons=300,
    )
    return MechanismQuestion(
        name=name,
        target=target,
        region=CITY,
        persons=300,
        resolution=resolution if entry.max_resolution else None,
        parameters=OWN.get(name, {}) if own is None else own,
    )


def data_for(mechanism):
    """What the mechanism's draw reads, of two persons with check-ins."""
    reads = registry.get(mechanism.name).reads
    if reads == "means":
        return RecordMeans(persons=300, x=100 * PARTS, y=200 * PARTS)
    level = mechanism.level if reads == "sums" else mechanism.resolution.bit_length() - 1
    cells = CITY.morton(np.array([30.2, 30.3]), np.array([-97.76, -97.7]), FINEST_LEVEL)
    records = item_records(persons=np.array([0, 1]), cells=cells, counts=np.ones_like(cells), level=level)
    return mechanism.sums(records) if reads == "sums" else records
