"""Expected losses and rows of local mechanisms as an independent library has them (data/make_qif.py)."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting.sgdl import sgdl
from mechanisms.guarantee import Relation
from mechanisms.local.lattice import Lattice
from mechanisms.local.optimal import Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.mechanism import Target

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "qif.json").read_text())
HALF = Target(relation=Relation.REPLACE, epsilon=Fraction(1, 2), radius_m=Fraction(1))


@pytest.mark.parametrize(("kind", "name"), [(PlanarGeometric, "planar_geometric"), (Optimal, "optimal")])
def test_the_expected_loss_on_a_grid(kind, name):
    """Tables of integers cost a little more noise: a part in 2^20 of all reports is uniform."""
    mechanism = kind.calibrate(HALF, lattice=Lattice(columns=5, rows=5))
    found = mechanism.expected_error().expected_m
    assert ORACLES[name] * (1 - 1e-6) <= found <= ORACLES[name] * (1 + 2e-5)


def test_the_geometric_law_on_a_line():
    """Its middle row is the law where the library does not cut it; its last entry the law's tail."""
    row, epsilon = ORACLES["geometric"]["middle_row"], ORACLES["geometric"]["epsilon"]
    law = np.exp(sgdl(1, epsilon, radius=200).two_sided())
    middle = law.size // 2
    assert law[middle - 3 : middle + 4] == pytest.approx(row[1:-1], rel=1e-12)
    assert law[: middle - 3].sum() == pytest.approx(row[0], rel=1e-12)
