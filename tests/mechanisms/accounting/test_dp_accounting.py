"""Exact δ of integer noise between the bounds of an independent library (data/make_dp_accounting.py)."""

import json
from pathlib import Path

import pytest

from mechanisms.accounting.hockey_stick import hockey_stick
from mechanisms.accounting.randomised_response import ones_delta
from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.two_axes import two_axes_delta

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "dp_accounting.json").read_text())
ROUNDING = 1e-9  # relative, of the library's sums and of ours


def check(row, delta_at):
    for loss, (low, high) in zip(row["losses"], row["delta"], strict=True):
        assert low * (1 - ROUNDING) <= delta_at(loss) <= high * (1 + 2 * ROUNDING)


@pytest.mark.parametrize("row", ORACLES["laplace"], ids=str)
def test_one_persons_noise(row):
    law = sgdl(1, row["eps_geo"], radius=400)
    check(row, lambda loss: hockey_stick(law, distance=row["distance"], loss=loss))


@pytest.mark.parametrize("row", ORACLES["sums"], ids=str)
def test_the_sum_of_everybodys_noise(row):
    law = sgdl(row["persons"], row["eps_geo"], radius=3000)
    check(row, lambda loss: hockey_stick(law, distance=row["distance"], loss=loss))


@pytest.mark.parametrize("row", ORACLES["planes"], ids=str)
def test_both_axes_together(row):
    """The library composes two independent axes."""
    law = sgdl(row["persons"], row["eps_geo"], radius=3000)
    check(row, lambda loss: two_axes_delta(law, shift=tuple(row["shift"]), loss=loss))


@pytest.mark.parametrize("row", ORACLES["bits"], ids=str)
def test_flipped_bits(row):
    """The library takes the worse of both directions; the other one is this one with all bits turned."""
    law = {name: row[name] for name in ("bits", "flip", "distance")}
    starts = row["ones"], row["bits"] - row["ones"] - row["distance"]
    check(row, lambda loss: max(ones_delta(**law, ones=ones, loss=loss) for ones in starts))
