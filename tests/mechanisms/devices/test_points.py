"""Central points of devices: unbiased, with errors that hold, whatever else is among the bits."""

import math
import time
from itertools import product

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.devices.plan import MOST_MESSAGES
from mechanisms.evaluation.seeded import SeededSource
from tests.mechanisms.devices.plans import REGION, plan
from tests.mechanisms.devices.reference import values
from tests.mechanisms.devices.test_encoders import PLACE

NAMES = ["geo-shuffle", "sgdl-shuffle", "rr-shuffle"]
ROUNDS = 400


def sent(made, reports, source):
    """`(n, 1)` messages of so many reports from `PLACE`, by the mechanism's own sampler."""
    encoding, bits = made.encoding, []
    for axis, square in enumerate(values(encoding, PLACE)):
        squares = np.full(reports, square)
        if made.name == "rr-shuffle":
            places_of_axis, protocol = encoding["domains"][axis], made.mechanism.noise()[axis]
        else:
            places_of_axis, protocol = encoding["places"], made.mechanism.noise()
        packed = protocol.randomise(squares, source)
        bits.append(np.unpackbits(packed, axis=1)[:, :places_of_axis].ravel() + 2 * axis)
    return np.concatenate(bits)[:, np.newaxis].astype(np.uint8)


def off_m(made, point, squares):
    """Metres east and north of the mean of the reported squares."""
    x, y = REGION.to_metres(point.lat, point.lon)
    cell_m = float(made.mechanism.cell_m)
    return float(x) - squares[0] * cell_m, float(y) - squares[1] * cell_m


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name != "sgdl-shuffle" else ()) for name in NAMES],
)
def test_a_point_is_unbiased_and_as_far_off_as_is_said(name):
    """With three times as many reports as honest ones were promised: noise grows with them."""
    made, source = plan(name, least_honest=20, epsilon=2), SeededSource(1)
    reports = 60
    true = values(made.encoding, PLACE)
    off = np.array(
        [off_m(made, made.analyse(sent(made, reports, source), reports), true) for _ in range(ROUNDS)]
    )
    lengths = np.hypot(*off.T)
    error = made.expected_error(reports)
    rounding_m = float(made.mechanism.cell_m) / math.sqrt(2)
    for axis in (0, 1):
        assert abs(off[:, axis].mean()) < 5 * off[:, axis].std() / math.sqrt(ROUNDS)
    spread = 5 * lengths.std() / math.sqrt(ROUNDS)
    assert abs(lengths.mean() - (error.expected_m - rounding_m)) < spread + 1
    assert spread < 0.2 * (error.expected_m - rounding_m)
    outside = (lengths > error.within_m - rounding_m).mean()
    assert abs(outside - 0.05) < 5 * math.sqrt(0.05 * 0.95 / ROUNDS)


@pytest.mark.parametrize("name", NAMES)
def test_the_error_counts_rounding_to_squares(name):
    """Everybody just beside a border: the mean is off by half a square on each axis, however many report."""
    made = plan(name, least_honest=500, most_reports=10**6)
    encoding = made.encoding
    cells = [encoding[side] / 2**31 for side in ("width_um", "height_um")]
    edge = [int((3 + 0.5) * encoding["cell_um"] / cell) - 2 for cell in cells]
    assert values(encoding, edge) == [3, 3]
    beyond_m = math.hypot(
        *(at * cell / 1e6 - 3 * encoding["cell_um"] / 1e6 for at, cell in zip(edge, cells, strict=True))
    )
    assert beyond_m > 0.99 * float(made.mechanism.cell_m) / math.sqrt(2)
    assert beyond_m <= made.expected_error(10**6).expected_m


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_bit_is_left_out(name):
    made = plan(name)
    honest = sent(made, 50, SeededSource(2))
    rubbish = np.arange(4, 256, dtype=np.uint8)[:, np.newaxis]
    assert made.analyse(np.vstack((honest, rubbish)), 50) == made.analyse(honest, 50)
    mixed = np.random.default_rng(1).permutation(honest)
    assert made.analyse(mixed, 50) == made.analyse(honest, 50)


@pytest.mark.parametrize("name", NAMES)
def test_dishonest_devices_move_the_point_by_no_more_than_is_said(name):
    made, reports, dishonest = plan(name), 400, 3
    bound = made.influence(dishonest, reports)
    domains = made.encoding["domains"]
    farthest = 0.0
    for true in product(*((0, domain) for domain in domains)):
        for axis, count in ((0, 0), (0, made.messages), (1, made.messages)):
            ones = [0, 0]
            ones[axis] = count
            squares = [float(made._squares(at, ones[at], 1)) - true[at] for at in (0, 1)]
            farthest = max(farthest, math.hypot(*squares))
    moved_m = farthest * float(made.mechanism.cell_m) * dishonest / reports
    assert bound.unit == "metres"
    assert bound.number == pytest.approx(moved_m)
    assert made.influence(reports, reports).number <= REGION.diameter_m
    assert made.influence(0, reports).number == 0


def test_a_quarter_of_a_million_bits_are_analysed_at_once():
    made = plan("geo-shuffle")
    bits = np.random.default_rng(1).integers(0, 4, (250_000, 1), np.uint8)
    made.analyse(bits, 100)
    started = time.perf_counter()
    made.analyse(bits, 100)
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle"])  # flipped bits have no padding
def test_reports_that_would_be_too_long_are_refused(name):
    with pytest.raises(ParameterError, match=rf"cell_m .*messages, of at most {MOST_MESSAGES}"):
        plan(name, parameters={"cell_m": "2.8"}, epsilon=20)


def test_squares_of_a_part_of_a_micrometre_are_refused():
    with pytest.raises(ParameterError, match="cell_m"):
        plan("geo-shuffle", parameters={"cell_m": "2000.0000001"})
