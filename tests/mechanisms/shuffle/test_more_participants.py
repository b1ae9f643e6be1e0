"""More participants than declared are at least as private, by the accountant on exact laws."""

from fractions import Fraction

import pytest

from mechanisms.accounting.conditioned import conditioned, conditioned_sum
from mechanisms.accounting.hockey_stick import hockey_stick
from mechanisms.accounting.randomised_response import largest_ones_delta
from mechanisms.accounting.sgdl import sgdl
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum

PERSONS, RADIUS = 12, 5
TARGET = {"epsilon": Fraction(1, 4), "delta": Fraction(1, 10**4), "radius": RADIUS, "domain": 20}


def padded_delta(noise, participants, distance):
    """δ at a distance of what that many participants publish: their noise, each cut to its padding."""
    law = conditioned(sgdl(float(noise.shape), float(noise.epsilon), radius=noise.padding), noise.padding)
    total = conditioned_sum(law, persons=participants, radius=500)
    return hockey_stick(total, distance=distance, loss=float(TARGET["epsilon"]) * distance)


@pytest.mark.parametrize("kind", [GeoSum, SgdlSum])
def test_padded_noise(kind):
    noise = kind.calibrate(persons=PERSONS, **TARGET).noise
    for distance in range(1, RADIUS + 1):
        deltas = [padded_delta(noise, n, distance) for n in (PERSONS, PERSONS + 1, 2 * PERSONS)]
        assert deltas[0] <= TARGET["delta"]
        assert deltas == sorted(deltas, reverse=True)
    # One person fewer than declared is not covered by the claim of noise that is just enough.
    if kind is GeoSum:
        assert padded_delta(noise, PERSONS - 1, RADIUS) > TARGET["delta"]


def test_flipped_bits():
    protocol = RrSum.calibrate(persons=PERSONS, **TARGET)
    deltas = [
        largest_ones_delta(
            bits=n * protocol.domain, flip=protocol.flip, radius=RADIUS, epsilon=float(TARGET["epsilon"])
        )
        for n in (PERSONS, PERSONS + 1, 2 * PERSONS)
    ]
    assert TARGET["delta"] >= deltas[0] > deltas[1] > deltas[2]
