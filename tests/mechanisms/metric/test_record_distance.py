"""Claims in metres hold for geodesics between places as they are cut to the region, however wide it is."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.catalogue.registry import build_answers, build_centroid
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.metric.linear.queries import MeanLocation
from mechanisms.records.aggregation import item_records, position_sums, record_means
from mechanisms.records.means import PARTS
from mechanisms.space.grid import FINEST_LEVEL, Region
from tests.geodesics import geodesic_m, worst_pairs
from tests.mechanisms.linear import CITY, boxes, points
from tests.mechanisms.space.test_stretch import CONTINENTS

EUROPE = CONTINENTS["Europe"]
ZURICH, FIJI = Region(8.4, 47.2, 8.8, 47.6), Region(176.9, -19.3, 180, -16)
WIDE = ["Europe", "the United States", "Africa", "South America", "Scandinavia", "Svalbard"]


def linear(region, radius_m, *, epsilon=1, name="emd-linear"):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(epsilon), radius_m=Fraction(radius_m))
    return build_centroid(name, target=target, region=region, persons=1, parameters={})


def loss_of_a_move(mechanism, *places):
    """Exact: by how much noise of density exp(-length/ω) tells the sums of two places (lat, lon) apart."""
    region, sums = mechanism.region, []
    for lat, lon in places:
        cells = region.morton([lat], [lon], FINEST_LEVEL)
        counts, columns, rows = position_sums([0], cells)
        sums.append(record_means(counts=counts, columns=columns, rows=rows, enrolled=1))
    east_m = (sums[1].x - sums[0].x) / PARTS * region.width_m
    north_m = (sums[1].y - sums[0].y) / PARTS * region.height_m
    return math.hypot(east_m, north_m) * 10**6 / float(mechanism.scale_um)


def apart_m(one, other):
    return float(geodesic_m(*one, *other))


def as_cut(region, *places):
    return [tuple(map(float, region.clamped(*place))) for place in places]


@pytest.mark.parametrize("name", WIDE)
def test_in_a_continent_no_move_costs_more_than_is_claimed_for_its_geodesic(name):
    region = CONTINENTS[name]
    (ratio,), (places,) = worst_pairs([region])
    one, other = tuple(places[:2]), tuple(places[2:])
    mechanism = linear(region, 500_000)
    claim = float(mechanism.guarantee.loss(apart_m(one, other)))
    assert loss_of_a_move(mechanism, one, other) <= claim
    assert float(mechanism.guarantee.loss(500_000)) <= 1
    assert ratio > 1.2  # the flat map is that far off, and it is counted


def test_distances_to_places_count_the_stretch_of_a_continent():
    one, other = (72.0, -25.0), (72.0, 45.0)
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(1), radius_m=Fraction(500_000))
    made = build_answers(
        "emd-distances", target=target, region=EUROPE, persons=1, parameters={"places": points([45.0, 72.0])}
    )
    cells = EUROPE.morton(*np.array([one, other]).T, FINEST_LEVEL)
    sums = [
        made.sums(item_records(persons=[0], cells=[cell], counts=[1], level=made.level)).sums[0]
        for cell in cells.tolist()
    ]
    exact = abs(sums[1] - sums[0]) / float(made._plan.scale)
    assert 0.5 < exact <= float(made.guarantee.loss(apart_m(one, other)))


def test_far_outside_of_the_region_distances_are_those_of_the_nearest_edge():
    """Two places at 70° N, seen at the northern edge of Zürich: nearly twice as far apart there."""
    one, other = (70.0, 8.45), (70.0, 8.75)
    mechanism = linear(ZURICH, 10_000)
    exact, cut = loss_of_a_move(mechanism, one, other), as_cut(ZURICH, one, other)
    assert [lat for lat, _ in cut] == [ZURICH.north] * 2
    assert exact > 1.95 * float(mechanism.guarantee.loss(apart_m(one, other)))  # why it says "as read"
    assert exact <= float(mechanism.guarantee.loss(apart_m(*cut)))


def test_a_step_over_the_antimeridian_is_a_step():
    """22 m, from 179.9999° E to 179.9999° W: both at Fiji's eastern edge, not one at each."""
    one, other = (-17.0, 179.9999), (-17.0, -179.9999)
    mechanism = linear(FIJI, 500)
    exact, cut = loss_of_a_move(mechanism, one, other), as_cut(FIJI, one, other)
    assert cut[1] == (-17.0, 180.0)
    assert exact <= float(mechanism.guarantee.loss(apart_m(*cut))) < 0.05
    assert loss_of_a_move(mechanism, (-17.0, -178.0), (-17.0, 180.0)) < 1e-6
    assert apart_m(*cut) < 22


def test_questions_cut_places_as_records_are_cut():
    east_m, _ = MeanLocation(region=FIJI).values(np.array([-17.0]), np.array([-179.9]))[0]
    assert east_m == pytest.approx(FIJI.width_m)
    above = MeanLocation(region=FIJI).values(np.array([80.0, -16.0]), np.array([170.0, 176.9]))
    assert above[0] == pytest.approx(above[1])


@pytest.mark.parametrize("margin_m", [None, "200000"])
def test_an_empty_record_is_exchanged_for_what_the_whole_record_is_charged(margin_m):
    """Where edges are softer than the region is wide, no distance in it is as far as nothing at all."""
    own = {} if margin_m is None else {"margin_m": margin_m}
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(1), radius_m=Fraction(40_000))
    zones = boxes((Region(-97.8, 30.2, -97.6, 30.4),) * 2)
    made = build_answers(
        "emd-zones", target=target, region=CITY, persons=5, parameters={"zones": zones, **own}
    )
    inside = CITY.morton([30.3], [-97.7], FINEST_LEVEL)
    full = made.sums(item_records(persons=[0], cells=inside, counts=[1], level=made.level)).sums
    nothing = made.sums(item_records(persons=[], cells=[], counts=[], level=made.level)).sums
    moved = np.subtract(full, nothing).astype(float)
    exact = (np.abs(moved).sum() if made.uses_laplace else np.hypot(*moved)) / float(made._plan.scale)
    diameter_m = math.floor(CITY.diameter_m) + 1
    assert float(made.guarantee.loss(diameter_m)) < 0.8 * exact
    assert exact <= float(made.guarantee.exchange_loss(diameter_m)) * (1 + 1e-9)
    assert made.guarantee.exchange_loss(diameter_m) == made.guarantee.loss(INFINITY)
