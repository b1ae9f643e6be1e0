"""Audits rounds of a shuffler that says who sent what, or that does not part the messages of one report.

The first reaches what is promised without the shuffler, `if_shuffler_fails`, and keeps to it; the second, as
one that is lazy and mixes whole packets, is far above what is promised with it.
"""

import numpy as np
import pytest

from mechanisms.audit.batches import Runs, least_loss
from tests.mechanisms.devices.audits import TWO_EACH, found, from_packets, made
from tests.mechanisms.devices.rounds import (
    NORTH_EAST,
    SOUTH_WEST,
    Devices,
    cells,
    distance_m,
    ones,
    place_of,
    sums,
)
from tests.mechanisms.devices.stand_ins import entries, laws_of_cells, noisy_masses

pytestmark = pytest.mark.long


def largest_of_packets(name, made_for, people, draws):
    """Runs of the largest score of a packet, and of the score of all messages together."""
    return {
        "emd-itemwise": _likeliest_packets,
        "shuffle-emd": _masses,
        "rr-shuffle": _flipped,
    }.get(name, _unary)(made_for, people, draws)


def _unary(made_for, people, draws):
    devices = Devices.of(made_for)
    for moved in (0, 1):
        scores = np.stack([entries(devices, (draws, 2), [moved, one]).sum(axis=1) for one in range(people)])
        scores[0] += moved * sum(TWO_EACH)
        yield scores.max(axis=0), scores.sum(axis=0)


def _flipped(made_for, people, draws):
    """A packet's score is of the bits that the move turns over: those of a report stay in their places."""
    encoding, rng = Devices.of(made_for).encoding, np.random.default_rng(1)
    for moved in (0, 1):
        scores, heap = np.zeros((people, draws), np.int64), np.zeros(draws, np.int64)
        for flips, domain, steps in zip(encoding.flips, encoding.plane.domains, TWO_EACH, strict=True):
            chance = flips / 2**32
            scores[1:] += rng.binomial(steps, chance, (people - 1, draws))
            scores[0] += rng.binomial(steps, 1 - chance if moved else chance, draws)
            heap += rng.binomial(people * (domain - steps), chance, draws)
        yield scores.max(axis=0), scores.sum(axis=0) + heap


def _likeliest_packets(made_for, people, draws):
    """Scores are logarithms of how much likelier a cell is from the north-east, in tenths."""
    rng, (here, there) = np.random.default_rng(2), laws_of_cells(made_for)
    score = np.round(10 * np.log(there / here)).astype(np.int64)
    crowd, mover = (_law_of_packets(score, law, made_for.law.samples) for law in (here, there))
    for law in (crowd, mover):
        others = rng.choice(crowd.size, (draws, people - 1), p=crowd)
        own = rng.choice(law.size, draws, p=law)
        yield np.maximum(own, others.max(axis=1)), own + others.sum(axis=1)


def _law_of_packets(score, law, samples):
    one, whole = np.bincount(score - score.min(), weights=law), np.ones(1)
    for _ in range(samples):
        whole = np.convolve(whole, one)
    return whole / whole.sum()


def _masses(made_for, people, draws):
    parts = made_for.round.law.parts
    for moved in (False, True):
        masses = noisy_masses(made_for, moved, people, draws, 3 + moved)
        packets, heap = (_towards_the_last(part, parts) for part in (masses, masses.sum(axis=1)))
        yield packets.max(axis=1), heap


def _towards_the_last(masses, parts):
    """How far the last cell's mass is above the first one's, as far as one person can change either."""
    crowd = int(np.median(masses[..., 0])) - parts // 2
    return np.clip(masses[..., -1], 0, parts) - np.clip(masses[..., 0] - crowd, 0, parts)


@pytest.mark.parametrize(
    ("name", "people", "draws", "least"),
    [
        ("geo-shuffle", 300, 6_000, 2),
        ("sgdl-shuffle", 20, 30_000, 2),
        ("rr-shuffle", 100, 30_000, 1.5),
        ("emd-itemwise", 300, 8_000, 2),
        ("shuffle-emd", 4, 20_000, 2),
    ],
)
def test_packets_that_stay_together_are_caught(name, people, draws, least):
    """Whole packets in random order, as the largest score of one shows; mixed, the same messages keep to the
    claim."""
    made_for = made(name, honest=people, **({"samples": 16} if name == "emd-itemwise" else {}))
    (one, mixed_one), (other, mixed_other) = largest_of_packets(name, made_for, people, draws)
    reached, delta = found(Runs(values=one), Runs(values=other), made_for.per_report)
    assert reached > least
    assert delta > 5
    mixed_reached, _ = found(Runs(values=mixed_one), Runs(values=mixed_other), made_for.per_report)
    assert mixed_reached <= 1


def at_a_corner(made_for):
    """Two places a few finest cells apart that are rounded to other squares on both axes."""
    other = place_of(Devices.of(made_for), (1, 1))
    return tuple(index - 1 for index in other), other


@pytest.mark.parametrize("name", ["geo-shuffle", "sgdl-shuffle", "rr-shuffle"])
def test_a_colluding_shuffler_reaches_what_is_left_without_it(name):
    """One step on both axes: bounds reach 85 % of `if_shuffler_fails` of Geo-Shuffle, 75 % of RR- and 60 % of
    SGDL-Shuffle, whose rarest noise few of 12,000 reports have."""
    made_for = made(name, honest=20)
    places = at_a_corner(made_for)
    first = made_for.encoding["domains"][0]
    outcome = {"rr-shuffle": lambda packet: 2 * (packet[0][0] & 1) + (packet[first][0] & 1)}.get(
        name, lambda packet: ones(packet)[0] * 10_000 + ones(packet)[1]
    )
    runs = from_packets(made_for, places, outcome)
    step_m = distance_m(*places)
    left, with_shuffler = made_for.per_report.if_shuffler_fails, made_for.per_report
    reached, _ = found(*runs, left, step_m)
    assert {"geo-shuffle": 0.85, "rr-shuffle": 0.75, "sgdl-shuffle": 0.6}[name] < reached <= 1
    assert reached * float(left.loss(step_m)) > 2 * float(with_shuffler.loss(step_m))


def test_a_colluding_shuffler_of_items_keeps_to_what_is_left():
    """Four samples from corner to corner: a bound reaches 40 %, for of the rarest heaps few are seen."""
    made_for = made("emd-itemwise", honest=200, samples=4)
    score = np.round(20 * np.log(np.divide(*laws_of_cells(made_for)))).astype(int)
    runs = from_packets(
        made_for,
        (SOUTH_WEST, NORTH_EAST),
        lambda packet: sum(score[cell] for cell in cells(packet)),
        draws=8_000,
    )
    reached, _ = found(*runs, made_for.per_report.if_shuffler_fails, distance_m(SOUTH_WEST, NORTH_EAST))
    assert 0.4 < reached <= 1
    assert reached * float(made_for.per_report.if_shuffler_fails.loss(9000)) > 2


def test_of_shares_a_colluding_shuffler_leaves_nothing():
    """What most devices send says all; a bound has no claim to keep to, and rises with the number of runs."""
    made_for = made("shuffle-emd", honest=10)
    devices = Devices.of(made_for)

    def outcome(packet):
        found_here = sums(packet, devices.encoding)
        return int(found_here[-1] == 4) - int(found_here[0] == 4)

    runs = from_packets(made_for, (SOUTH_WEST, NORTH_EAST), outcome, draws=4_000)
    assert made_for.per_report.if_shuffler_fails.loss(1) == float("inf")
    assert least_loss(*runs, delta=0.001, seed=1) > 3
