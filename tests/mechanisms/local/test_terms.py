"""Every slack and rounding of local and central mechanisms: dropped, something exact here is understated."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest

from mechanisms.candidate_net import MICRO, Plane
from mechanisms.central.exponential.mechanism import _PART, Exponential
from mechanisms.central.exponential.weight_table import LAST, steepest, weight_table
from mechanisms.central.privtree.mechanism import PrivTree
from mechanisms.central.sparse_emd.level_budgets import shares
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.local.centroid import GeoLocalCentroid
from mechanisms.local.directions import detour, moves
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.noise_table import TOTAL_BITS, NoiseTable
from mechanisms.local.optimal import Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.local.reports import short
from mechanisms.mechanism import Target
from mechanisms.records.aggregation import position_sums, record_means
from mechanisms.records.mass_map import MassMap
from mechanisms.records.means import PARTS
from mechanisms.shuffle.lattice import ROOT_TWO
from mechanisms.space.grid import FINEST_LEVEL, Region, morton_encode
from tests.mechanisms.examples import SEED

F = Fraction
CITY = Region(-97.9, 30.1, -97.5, 30.5)


def quotient(value):
    return mpmath.mpf(value.numerator) / value.denominator


# --- tables of noise ---


def polygon_norm(lattice, longest, reach):
    """`(reach, reach)` lengths of offsets by the polygon of all moves: chains of the two beside them."""
    a, b = np.arange(reach)[:, np.newaxis], np.arange(reach)
    found = np.zeros((reach, reach))
    for u, v in pairwise(move for move, _ in moves(lattice, longest)):
        first, second = a * v[1] - b * v[0], b * u[0] - a * u[1]  # their determinant is 1
        inside = (first >= 0) & (second >= 0)
        found[inside] = (first * math.hypot(*u) + second * math.hypot(*v))[inside]
    return found


def test_a_law_that_is_steepest_between_its_moves_costs_their_detour():
    lattice, reach = Lattice(columns=20, rows=20), 120
    whole = np.exp(-0.3 * polygon_norm(lattice, 8, reach))
    ends = np.minimum(np.arange(reach), 19)
    law = np.zeros((20, 20))
    np.add.at(law, (ends[:, np.newaxis], ends), whole)  # tails at the border
    table = NoiseTable.of(lattice, law)
    assert table.total <= 2**TOTAL_BITS
    logs = np.log((table.quadrant + table.uniform).astype(np.float64))
    seen = max((logs[0, 0] - logs[a, b]) / math.hypot(a, b) for a, b in ((9, 1), (17, 2), (10, 1)))
    assert seen > 0.3 * 1.0005  # a move that is measured costs 0.3 a cell
    assert seen <= table.loss_per_metre() <= 0.3 * 1.003


@pytest.mark.parametrize("height_m", [1, 3])
def test_moves_are_rounded_down_and_their_detour_up(height_m):
    lattice = Lattice(columns=40, rows=30, row_m=F(height_m) / 7)
    listed, claimed = moves(lattice, 5), detour(lattice, 5)
    for (a, b), length_m in listed:
        assert length_m**2 <= F(a) ** 2 + (b * lattice.row_m) ** 2
    with mpmath.workdps(40):
        angles = [mpmath.atan2(b * quotient(lattice.row_m), a) for (a, b), _ in listed]
        widest = max(abs(x - y) for x, y in pairwise(angles))
        assert 1 / mpmath.cos(widest / 2) <= quotient(claimed)


@pytest.mark.parametrize("decay", [F(7, 10), F(8, 10)])
def test_caps_and_slopes_of_a_programmes_table_are_rounded_up(decay):
    made = Optimal(lattice=Lattice(columns=3, rows=2), decay_per_m=decay, prior=(1, 5, 2, 9, 4, 3))
    costs, cells = made.costs, list(product(range(3), range(2)))
    with mpmath.workdps(40):
        logs = [[mpmath.log(int(weight)) for weight in row] for row in made.table]
        rows = list(zip(cells, logs, strict=True))
        for (one, here), (other, there) in product(rows, rows):
            change = max(a - b for a, b in zip(here, there, strict=True))
            assert change <= quotient(costs.cap)
            assert change <= quotient(costs.per_metre) * mpmath.sqrt(
                (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
            )


# --- snapping and stretch ---


def test_snapping_adds_a_cells_diagonal_and_what_storing_adds():
    lattice = Lattice.of(CITY, F(2000))
    rounding_m = F(Plane(CITY).rounding_um, MICRO)
    assert (lattice.snap_m - rounding_m) ** 2 >= lattice.column_m**2 + lattice.row_m**2
    made = GeoLocal(lattice=lattice, decay_per_m=F(1, 3000))
    across, along = (table.loss_per_metre() for table in made.tables)
    diagonal = across * lattice.column_m + along * lattice.row_m
    # Two places next to each other, in cells that touch at a corner.
    term = made.per_report.terms[0]
    added = term.offset_m * term.alpha_per_m
    assert added >= diagonal + rounding_m * made.costs.per_metre
    assert made.per_report.loss(F(1, 10**6)) >= diagonal


def test_metres_on_the_ground_may_be_longer_in_the_projection():
    lattice = Lattice(columns=9, rows=9, stretch=F(3, 2))
    made = PlanarGeometric(lattice=lattice, decay_per_m=F(1, 5))
    assert made.per_report.loss(2) >= made.costs.per_metre * 3


def test_a_decay_is_shortened_downwards():
    for value in (F(1, 3), F(2, 3 * 10**7), F(22222222222222222, 7)):
        assert value * (1 - F(1, 10**10)) < short(value) <= value


def test_a_blurred_mean_spends_its_target_with_all_roundings():
    made = GeoLocalCentroid.calibrate(
        Target(relation=Relation.REPLACE, epsilon=F(2), radius_m=F(600)),
        region=CITY,
        persons=50,
        cell_m=F(200),
    )
    plane = Plane(CITY)
    assert made.guarantee.loss(600) <= 2
    # What would be spent with exactly the loss a square that is asked for.
    moved_m = 600 * plane.stretch + F(plane.rounding_um, MICRO) + ROOT_TWO * 200
    assert made._target_loss * ROOT_TWO * moved_m / 200 <= 2
    both = 2 * made.device.table.cap()
    assert made.guarantee_on_devices.loss(INFINITY) >= min(both, made.guarantee.loss(INFINITY))


# --- central mechanisms ---


def test_a_point_drawn_from_a_net_pays_for_parts_of_a_step():
    made = Exponential.calibrate(
        Target(relation=Relation.REPLACE, epsilon=F(1), radius_m=F(600)), region=CITY, persons=9
    )
    plane, term, a_step = Plane(CITY), made.guarantee.terms[0], 2 * steepest(weight_table())
    person_um = made.persons * made.step_um
    assert term.cap >= a_step * min(plane.diameter_um / person_um + _PART, F(LAST))
    added_um = term.offset_m * plane.stretch * MICRO
    assert added_um >= plane.rounding_um + person_um * _PART
    assert made.guarantee.loss(600) <= 1


def test_every_level_has_a_share_of_the_budget():
    found = shares(F(1, 2), 24)
    assert min(found) > 0
    assert sum(found) == 1


def test_empty_cells_are_split_as_often_however_deep():
    """Below the floor of −δ nothing changes: one in eight, as the proof of PrivTree has it."""
    made = PrivTree(relation=Relation.ADD_REMOVE, epsilon=F(1), resolution=8)
    nothing = np.zeros(0, np.int64)
    empty = MassMap(level=3, unit=made.unit, cells=nothing, masses=nothing)
    random = SeededSource(SEED)
    finest = sum(int((made.tree(empty, random).levels == 3).sum()) for _ in range(200))
    # The root is split with 1/2, each of its cells and of theirs with 1/8: 200 · 4/2 · 4/8 · 4/8 of level 3.
    assert 60 < finest < 150


def test_a_mean_is_rounded_to_the_nearest_part():
    cells = morton_encode(np.array([0, 1, 1, 5]), np.array([2, 2, 3, 9]), FINEST_LEVEL)
    for count in (1, 2, 3, 4):
        sums = position_sums(np.zeros(count, np.int64), cells[:count])
        found = record_means(counts=sums[0], columns=sums[1], rows=sums[2], enrolled=1)
        for total, axis in ((sums[1][0], found.x), (sums[2][0], found.y)):
            exact = F(2 * int(total) + count, 2 * count) * PARTS / 2**FINEST_LEVEL
            assert abs(axis - exact) <= F(1, 2)
