"""Runs of two rounds that differ in one person's place, and what audits find in them beside a claim."""

import numpy as np

from mechanisms.audit.batches import Runs, least_delta, least_loss
from mechanisms.audit.outcomes import in_order
from tests.mechanisms.devices.rounds import LAST, RADIUS_M, Devices, Words, plan, windowed
from tests.mechanisms.devices.stand_ins import flipped_ones, heaps, noisy_masses, unary_ones

DRAWS, REAL = 160_000, 12_000
TWO_EACH = (2, 2)  # squares: the farthest that the radius allows
MORE = {
    "frequency": {"district_levels": 1, "resolution": 4},
    "shuffle-emd": {"parts": 4, "resolution": 2},
    "emd-itemwise": {"samples": 1, "resolution": 4},
} | {name: {"resolution": 4} for name in ("planar-geometric", "geo-local", "optimal")}
HALF_A_RADIUS = int(0.49 * LAST * RADIUS_M / 8148.4)
ACROSS_THE_MIDDLE = tuple((LAST // 2 + side * HALF_A_RADIUS, LAST // 2) for side in (-1, 1))


def made(name, *, epsilon=1, honest, **changes):
    return plan(name, epsilon=epsilon, honest=honest, **(MORE.get(name, {}) | changes))


def found(one, other, claimed, distance=RADIUS_M):
    """(lower bound on the loss at δ, on δ at the loss that is claimed), as parts of what is claimed."""
    loss, delta = float(claimed.loss(distance)), float(claimed.delta)
    reached = least_loss(one, other, delta=delta, seed=1) / loss
    return reached, least_delta(one, other, loss=loss, seed=2) / (delta or 1e-300)


def from_bits(draw, made_for, people, *, squares=TWO_EACH, draws=DRAWS):
    """Runs of numbers of ones: of somebody at 0, and at these squares."""
    devices = Devices.of(made_for)
    rows = [draw(devices, there, people, draws, seed) for seed, there in enumerate(((0, 0), squares))]
    centre = np.median(rows[0], axis=0)
    return in_order(*(windowed(part, centre) for part in rows))


def from_masses(made_for, people, *, draws=36_000):
    rows = [noisy_masses(made_for, moved, people, draws, 5 + moved).sum(axis=1) for moved in (False, True)]
    parts = made_for.round.law.parts
    return in_order(*(windowed(part[:, [0, -1]], (parts * people - 2, 2)) for part in rows))


def from_heaps(made_for, people, *, draws=DRAWS):
    one, other = (heaps(made_for, moved, people, draws, 7 + moved) for moved in (False, True))
    return Runs(values=one), Runs(values=other)


def from_packets(made_for, people, outcome, *, draws=REAL):
    """Of each input `draws` real reports of the person alone; people: the two places."""
    devices, words = Devices.of(made_for), Words(11)
    rows = [[outcome(devices.report([place], words)) for _ in range(draws)] for place in people]
    return in_order(*(np.array(part, np.int64) for part in rows))


def shuffled(name, made_for, people, **changes):
    if name == "emd-itemwise":
        return from_heaps(made_for, people)
    if name == "shuffle-emd":
        return from_masses(made_for, people)
    return from_bits(flipped_ones if name == "rr-shuffle" else unary_ones, made_for, people, **changes)
