"""What pages, API and commands say of promises in metres, and a region that is too wide for them."""

from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from tests.services import seed

AS_READ = "a place outside the region counts at the region's nearest edge"
TOO_WIDE = "choose a smaller region, or a mechanism whose promise does not depend on distance"
CANADA = Region(-141, 41.7, -52.6, 83.1)


def wide_dataset(make_dataset, region=CANADA):
    """With check-ins, and limits that every mechanism fits into."""
    limits = {"record": "9", "radius": "2", "delta": "0.001"}
    made = make_dataset("wide", Relation.REPLACE, region=region, radius_m=50_000, limits=limits)
    seed.add_checkins(made)
    return made
