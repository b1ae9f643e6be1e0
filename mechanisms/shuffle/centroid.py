"""Releases central points of persons by shuffled bits on two axes, run on stored check-ins.

Whoever runs them sees the check-ins: trust is CENTRAL, `simulated`. What is released has the law of the
protocols beside this file, with as many honest participants as there are persons.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from scipy.special import erfinv

from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.accounting.sgdl import sgdl
from mechanisms.check import ParameterError
from mechanisms.randomness import RandomSource
from mechanisms.samplers.binomial import binomial
from mechanisms.shuffle.geo_shuffle import CUT_PART
from mechanisms.shuffle.padded_noise import PaddedNoise, padding_for
from mechanisms.shuffle.plane_noise import BINS, calibrate_two_axes, noise_length
from mechanisms.shuffle.protocol import rounded_down, rounded_up
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid

_EXACT_STEPS: Final = 27  # moves of more squares are accounted for axis by axis
_DRAWS_AT_A_TIME: Final = 1 << 20


class _PaddedCentroid(ShuffledCentroid):
    """Runs Geo- and SGDL-Shuffle: conditioned noise, one draw a person and axis."""

    __slots__ = ()

    @abstractmethod
    def noise(self) -> PaddedNoise: ...

    @property
    def padding(self) -> int:
        """Returns c: every device would send domain + 2c bits an axis."""
        return self.noise().padding

    def _noisy(self, axis: int, total: int, rng: RandomSource) -> Fraction:  # noqa: ARG002 - the same on each axis
        noise, left = self.noise(), self.persons
        while left:
            size = min(left, _DRAWS_AT_A_TIME)
            total += int(noise.noise(rng, size).sum())
            left -= size
        return Fraction(total)

    def _noise_length(self) -> tuple[float, float]:
        noise = self.noise()
        shape = float(noise.shape * self.persons)
        return noise_length(shape, float(noise.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class GeoShuffle(_PaddedCentroid):
    """Adds two-sided geometric noise from every person (`geo_shuffle.py`), accounting for both axes together.

    Guarantee: as `ShuffledCentroid`; exact for the product of both axes up to 27 squares in the reach,
    beyond that δ/2 an axis at |i| + |j| ≤ √2·|(i, j)|, which takes about a third more noise. Appendix D of
    the paper covers rectangles only.
    Edge cases and error: as `ShuffledCentroid`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 3 and Appendix D.
    """

    name: ClassVar[str] = "geo-shuffle"

    @property
    def epsilon_geo(self) -> Fraction:
        return self.noise().epsilon

    def noise(self) -> PaddedNoise:
        return _geo_noise(self)

    def _alone(self) -> tuple[Fraction, Fraction]:
        return self.epsilon_geo, Fraction(self.noise().local_edge(self.farthest))


@dataclass(frozen=True, slots=True, kw_only=True)
class SgdlShuffle(_PaddedCentroid):
    """Adds a share of one geometric noise from every person (`sgdl_shuffle.py`).

    Guarantee: as `ShuffledCentroid`; ε_s/√2 a step on each axis. Only what the padding cuts off costs δ.
    Edge cases and error: as `ShuffledCentroid`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 4.
    """

    name: ClassVar[str] = "sgdl-shuffle"

    def noise(self) -> PaddedNoise:
        return _sgdl_noise(self)

    def _alone(self) -> tuple[Fraction, Fraction]:
        noise = self.noise()
        logs = sgdl(float(noise.shape), float(noise.epsilon), radius=1000).log_probabilities
        return rounded_up(float(logs[0] - logs[1])), Fraction(noise.local_edge(self.farthest))


@dataclass(frozen=True, slots=True, kw_only=True)
class RrShuffle(ShuffledCentroid):
    """Flips every bit of every person's two values with one probability (`rr_shuffle.py`), δ/2 an axis.

    Guarantee: as `ShuffledCentroid`.
    Edge cases and error: as `ShuffledCentroid`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 2 and Appendix D.
    """

    name: ClassVar[str] = "rr-shuffle"
    usual_steps: ClassVar[int] = 6  # as the paper's: its account takes long where squares are small

    def noise(self) -> tuple[RrSum, RrSum]:
        across, along = _rr_sums(self)
        return across, along

    def _alone(self) -> tuple[Fraction, Fraction]:
        return rounded_up(max(axis.local_loss for axis in self.noise())), Fraction(0)

    def _noisy(self, axis: int, total: int, rng: RandomSource) -> Fraction:
        protocol = self.noise()[axis]
        bits = self.persons * protocol.domain
        ones = total - binomial(rng, trials=total, chance=protocol.flips)
        ones += binomial(rng, trials=bits - total, chance=protocol.flips)
        return protocol.analyse(ones, self.persons)

    def _noise_length(self) -> tuple[float, float]:
        """Returns the length of noise that is taken as normal on each axis: at least 10,000 bits are flipped
        or the error is a few steps anyway.
        """
        errors = np.array([axis.standard_error(self.persons) for axis in self.noise()])
        quantiles = (np.arange(BINS) + 0.5) / BINS
        steps = np.sqrt(2) * erfinv(quantiles)
        lengths = np.sort(np.hypot(errors[0] * steps[:, np.newaxis], errors[1] * steps).ravel())
        return float(lengths.mean()), float(lengths[int(0.95 * lengths.size)])


@lru_cache(maxsize=64)
def _geo_noise(mechanism: GeoShuffle) -> PaddedNoise:
    delta, loss = float(mechanism.delta), float(mechanism.highest_loss)
    share = (1 - 2 * CUT_PART) * delta
    if mechanism.reach_steps <= _EXACT_STEPS:
        largest = calibrate_two_axes(
            mechanism.persons, float(mechanism.epsilon_step), share, mechanism.shifts
        )
    else:
        largest = calibrate_geo_sum(
            persons=mechanism.persons,
            epsilon=float(mechanism.epsilon_axis),
            delta=share / 2,
            radius=mechanism.farthest,
        )
    return _padded(mechanism, Fraction(1), rounded_down(largest), CUT_PART * delta, loss)


@lru_cache(maxsize=64)
def _sgdl_noise(mechanism: SgdlShuffle) -> PaddedNoise:
    # δ of the uncut sum is 0; the loss at the farthest lattice move is at most `highest_loss`.
    epsilon = rounded_down(float(mechanism.epsilon_axis) * (1 - 1e-15))
    part = (1 - CUT_PART) * float(mechanism.delta)
    return _padded(mechanism, Fraction(1, mechanism.persons), epsilon, part, float(mechanism.highest_loss))


def _padded(
    mechanism: _PaddedCentroid, shape: Fraction, epsilon: Fraction, part: float, loss: float
) -> PaddedNoise:
    draws = 2 * mechanism.persons
    padding = padding_for(draws=draws, shape=shape, epsilon=epsilon, part=part, loss=loss)
    noise = PaddedNoise(shape=shape, epsilon=epsilon, padding=padding, domain=max(mechanism.lattice.domains))
    left = float(mechanism.delta) - part if shape == 1 else 0.0
    spent = noise.spent(left * (1 - CUT_PART), draws=draws, loss=loss)
    if spent > mechanism.delta:
        raise ParameterError("delta", float(mechanism.delta), f"at least {spent:.6g}")
    return noise


@lru_cache(maxsize=64)
def _rr_sums(mechanism: RrShuffle) -> tuple[RrSum, ...]:
    return tuple(
        RrSum.calibrate(
            persons=mechanism.persons,
            epsilon=mechanism.epsilon_axis,
            delta=mechanism.delta / 2,
            radius=min(mechanism.farthest, domain),
            domain=domain,
        )
        for domain in mechanism.lattice.domains
    )
