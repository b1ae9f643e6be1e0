"""Neighbours that `manage.py audit` draws from are as far apart as it says: no farther, and hardly nearer."""

import numpy as np
import pytest

from heatmaps.management.auditing import SQUARE, STREET, cases
from mechanisms.metric.linear.answers import PARTS as ANSWER_PARTS
from mechanisms.records.means import PARTS


def audited(name, resolution=None):
    return cases({"name": name, "epsilon": ["1"], "resolution": resolution, "parameter": []})


@pytest.mark.parametrize("name", ["exponential", "emd-linear", "sgdl-shuffle"])
def test_a_mean_moves_so_far_along_the_street(name):
    for case in audited(name):
        one, other = case.inputs
        moved_m = np.hypot((other.x - one.x) * STREET.width_m, (other.y - one.y) * STREET.height_m) / PARTS
        assert 0.95 * case.distance_m < moved_m
        assert moved_m * STREET.shrink <= case.distance_m * (1 + 1e-9)  # on the ground


def test_a_person_comes_so_much_nearer_to_the_place():
    for case in audited("emd-distances"):
        (far,), (near,) = (sums.sums for sums in case.inputs)
        moved_m = (far - near) / ANSWER_PARTS * float(case.mechanism.query.reach_m)
        assert 0.98 * case.distance_m < moved_m <= case.distance_m


def test_a_part_of_the_check_ins_moves_from_corner_to_corner():
    side = 4
    for case in audited("emd-itemwise", str(side)):
        counts = [
            dict(zip(records.cells.tolist(), records.counts.tolist(), strict=True)) for records in case.inputs
        ]
        assert set(counts[0]) == {0}
        across_m = np.hypot(SQUARE.width_m, SQUARE.height_m) * (side - 1) / side
        there = counts[1].get(side**2 - 1, 0) / sum(counts[1].values())
        assert there * across_m * SQUARE.shrink <= case.distance_m * (1 + 1e-9)
        assert there == 1 or (there + 0.02) * across_m > case.distance_m
