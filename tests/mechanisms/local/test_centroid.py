"""The mean of reports that devices blurred: its law, what it costs by its own table, and its error."""

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.catalogue.registry import build_centroid
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import Region

CITY = Region(-97.9, 30.1, -97.5, 30.5)
STREET = Region(10.0, 50.0, 10.05, 50.03)


def make(*, persons, epsilon, region=CITY, name="geo-local", delta="0", **parameters):
    target = Target(
        relation=Relation.REPLACE, epsilon=Fraction(epsilon), delta=Fraction(delta), radius_m=Fraction(600)
    )
    return build_centroid(name, target=target, region=region, persons=persons, parameters=parameters)


def means_at(x, y, persons):
    return RecordMeans(persons=persons, x=int(x * persons * PARTS), y=int(y * persons * PARTS))


@pytest.mark.parametrize("epsilon", ["0.5", "2", "15"])
def test_no_report_tells_two_squares_apart_by_more_than_it_claims(epsilon):
    """Every report from every square, as integers of the device's table; nothing is rounded away."""
    mechanism = make(persons=40, epsilon=epsilon, region=STREET, cell_m=200)
    device = mechanism.device
    squares = range(device.margin, device.side - device.margin)
    weights = np.array([device.table.weights(square, 0)[:, 0] for square in squares])
    assert weights.min() > 0
    assert set(weights.sum(axis=1).tolist()) == {device.table.total}
    logs = np.log(weights.astype(np.float64))
    for steps in range(1, len(squares)):
        seen = np.abs(logs[steps:] - logs[:-steps]).max()
        assert seen <= float(mechanism.loss_a_square) * steps
        assert seen <= float(device.table.cap())
    assert np.abs(logs[1:] - logs[:-1]).max() > 0.999 * float(mechanism.loss_a_square)


def test_one_person_moves_reports_by_as_many_squares_as_they_move():
    """⌊(S + i) / n⌋ for all i: they sum to S and none goes back."""
    for persons in (1, 2, 7):
        rows = [(total + np.arange(persons)) // persons for total in range(40)]
        assert [row.sum() for row in rows] == list(range(40))
        assert all((there >= here).all() for here, there in pairwise(rows))


def test_every_move_on_the_ground_is_within_the_guarantee():
    """Squares that a move becomes once sums are rounded, at the loss of the table, against the one term."""
    mechanism = make(persons=3, epsilon="0.7", region=STREET, cell_m=250)
    lattice, guarantee, rng = mechanism.lattice, mechanism.guarantee, np.random.default_rng(1)
    for _ in range(300):
        here, there = rng.random((2, 2))
        others = rng.random(2) * 2
        sums = [
            lattice.sums(RecordMeans(persons=3, x=int((a + o[0]) * PARTS), y=int((b + o[1]) * PARTS)))
            for (a, b), o in ((here, others), (there, others))
        ]
        moved = sum(abs(one - other) for one, other in zip(*sums, strict=True))
        distance_m = (
            math.hypot((here[0] - there[0]) * STREET.width_m, (here[1] - there[1]) * STREET.height_m)
            / STREET.stretch
        )
        assert float(mechanism.loss_a_square) * moved <= float(guarantee.loss(distance_m)) * (1 + 1e-12)
    assert guarantee.loss(INFINITY) == mechanism.loss_a_square * sum(lattice.domains)


@pytest.mark.parametrize("persons", [3, 400])
@pytest.mark.parametrize("place", [0.0, 0.5])
def test_its_mean_is_right_and_its_error_is_what_it_expects(persons, place):
    """At the region's corner, too, where reports that stopped at the border would pull the mean inwards."""
    mechanism = make(persons=persons, epsilon=2, region=STREET)
    truth = np.array(mechanism.lattice.sums(means_at(place, place, persons)), dtype=np.float64)
    rng, means = SeededSource(persons), means_at(place, place, persons)
    runs = 1200
    off = np.array([[float(v) for v in mechanism.noisy_sums(means, rng)] for _ in range(runs)]) - truth
    off *= float(mechanism.cell_m) / persons
    lengths, error = np.hypot(*off.T), mechanism.expected_error()
    assert np.abs(off.mean(axis=0)).max() < 4.5 * off.std() / math.sqrt(runs)
    assert lengths.mean() == pytest.approx(error.expected_m, rel=0.07)
    assert 0.93 < (lengths <= error.within_m).mean() < 0.97


@pytest.mark.parametrize(
    ("persons", "epsilon", "honest_m"),
    [(1000, "0.15", 317.03), (1000, "0.3", 158.51), (4000, "0.3", 79.26)],
)
def test_its_error_is_that_of_table_3_and_what_rounding_to_squares_adds(persons, epsilon, honest_m):
    expected_m = make(persons=persons, epsilon=epsilon).expected_error().expected_m
    assert honest_m < expected_m < 1.03 * honest_m


def test_it_needs_the_square_root_of_the_persons_more_than_a_trusted_server():
    trusted_m = make(persons=900, epsilon=1, name="sgdl-shuffle", delta="1e-9").expected_error().expected_m
    # The sum of many reports is normal, one geometric noise is not: mean lengths differ by a few percent.
    assert make(persons=900, epsilon=1).expected_error().expected_m == pytest.approx(30 * trusted_m, rel=0.1)


def test_a_report_that_is_any_square_is_corrected_for(monkeypatch):
    """With one report in four uniform the mean still is right; uncorrected it would be far off."""
    mechanism = make(persons=2000, epsilon=2, region=STREET, cell_m=50)
    device = mechanism.device
    often = dataclasses.replace(device.table, uniform=int(device.table.ends[-1]) // (3 * device.side))
    device = dataclasses.replace(device, table=often)
    monkeypatch.setattr("mechanisms.local.centroid._device", lambda _: device)
    assert 0.24 < float(device.uniform) < 0.26
    (total, _), means = mechanism.lattice.sums(means_at(0.05, 0.05, 2000)), means_at(0.05, 0.05, 2000)
    found = np.mean([float(mechanism.noisy_sums(means, SeededSource(seed))[0]) for seed in range(60)])
    assert found / 2000 == pytest.approx(total / 2000, abs=4 * device.side * 0.3 / math.sqrt(2000 * 60))
