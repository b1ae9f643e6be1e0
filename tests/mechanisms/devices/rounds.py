"""Rounds as the analyser sees them: all messages of all devices in ascending order, and nothing else.

Devices are the client's own encodings, fed with a plan's encoding and table. Places are finest cells.
"""

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hazemap_device.encodings import encoding_of

from mechanisms.candidate_net import Plane
from mechanisms.devices import catalogue
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.space.grid import FINEST_LEVEL, Region

# 8.1 km by 5.6 km; places move by 2 km, and may do so by two squares of 1,400 m on both axes at once: of all
# moves within the radius none is farther once places are rounded.
REGION = Region(13.30, 52.48, 13.42, 52.53)
RADIUS_M, CELL_M = 2000, "1400"
DELTA = "0.001"
LAST = (1 << FINEST_LEVEL) - 1
SOUTH_WEST, NORTH_EAST = (0, 0), (LAST, LAST)


def plan(name, *, epsilon, honest, delta=None, **parameters):
    entry = catalogue.get(name)
    resolution = parameters.pop("resolution", None)
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(epsilon),
        delta=Fraction((delta or DELTA) if entry.needs_delta else 0),
        radius_m=Fraction(RADIUS_M),
    )
    if entry.kind == "centroid":
        parameters = {"cell_m": CELL_M} | parameters
    return catalogue.build(
        name,
        region=REGION,
        target=target,
        least_honest=honest,
        most_reports=2 * honest,
        resolution=resolution,
        parameters=parameters,
    )


class Words:
    """Seeded words for devices in tests."""

    def __init__(self, seed):
        self.source, self.left = np.random.default_rng(seed), []

    def word(self):
        if not self.left:
            self.left = self.source.integers(0, 2**64, 1 << 14, np.uint64).tolist()
        return self.left.pop()


@dataclass(frozen=True)
class Devices:
    """All devices of a round: what the facts tell them."""

    encoding: object
    table: bytes

    @classmethod
    def of(cls, made):
        return cls(encoding_of(json.loads(json.dumps(made.encoding))), made.table)

    def report(self, places, words):
        """The messages of one person with these places."""
        return self.encoding.report(places, self.table, words)

    def packets(self, people, words):
        return [self.report([place], words) for place in people]


def mixed(packets):
    """What the analyser gets."""
    return sorted(message for packet in packets for message in packet)


def ones(messages):
    """(ones of axis 0, of axis 1) among bits: all that a heap of a fixed number of bits says."""
    counted = Counter(messages)
    return counted[b"\x01"], counted[b"\x03"]


def cells(messages):
    return [int.from_bytes(message, "big") for message in messages]


def sums(messages, encoding):
    """What the shares of each coordinate add up to, from minus half the modulus on."""
    added, half = Counter(), encoding.modulus // 2
    for message in messages:
        added[int.from_bytes(message[:4], "big")] += int.from_bytes(message[4:], "big")
    coordinates = sum(4**level for level in encoding.levels)
    return [(added[place] + half) % encoding.modulus - half for place in range(coordinates)]


def place_of(devices, squares):
    """The south-westernmost finest cell whose rounded place is this pair of squares."""
    return tuple(_first(devices.encoding.plane, axis, value) for axis, value in enumerate(squares))


def _first(plane, axis, value):
    low, high = -1, LAST  # the last one below, the first one at
    while high - low > 1:
        middle = (low + high) // 2
        here = [0, 0]
        here[axis] = middle
        low, high = (low, middle) if plane.values(tuple(here))[axis] >= value else (middle, high)
    return high


def farthest_within_radius(devices, squares):
    """Two places at most the radius apart that are rounded to squares so far apart, on each axis."""
    one = tuple(start - 1 for start in place_of(devices, (1, 1)))  # the last that are rounded to 0
    other = place_of(devices, squares)
    assert devices.encoding.plane.values(one) == (0, 0)
    assert distance_m(one, other) <= RADIUS_M
    return one, other


def distance_m(one, other):
    """On the ground, at most."""
    plane = Plane(REGION)
    sides = REGION.width_m, REGION.height_m
    steps = [abs(a - b) * side / 2**FINEST_LEVEL for a, b, side in zip(one, other, sides, strict=True)]
    return float(plane.shrink) * float(np.hypot(*steps))


def windowed(rows, centre, width=7):
    """`(draws,)` numbers for what the columns of `rows` are, cut to so far from a centre."""
    cut = np.clip(np.asarray(rows, np.int64) - np.asarray(centre, np.int64), -width, width) + width
    return np.ravel_multi_index(tuple(cut.T), (2 * width + 1,) * cut.shape[1]).astype(np.int64)
