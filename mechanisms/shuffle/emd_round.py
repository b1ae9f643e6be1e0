"""Makes a sparse map from devices in separate pieces: randomise → split → shuffle every share → analyse."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.grid_laplace.noisy_cells import largest
from mechanisms.central.sparse_emd.measurement import MeasuredLevel
from mechanisms.central.sparse_emd.mechanism import DEFAULT_WIDTH
from mechanisms.central.sparse_emd.reconstruction import reconstruct
from mechanisms.check import ParameterError, exact_decimal, in_range
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from mechanisms.randomness import RandomSource
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.clustered_polya import TOTAL_VARIATION, clustered_polya
from mechanisms.shuffle.shuffle_emd import ShuffleEmd
from mechanisms.shuffle.split_and_mix import (
    Words,
    communication_bits,
    least_shares,
    shuffle_shares,
    split,
    sums,
    view_distance,
)
from mechanisms.space.grid import children, parent

MOST_PERSONS: Final = 10**6
HIGHEST_EPSILON: Final = 100  # beyond it a δ is nothing beside e^ε
_MARGIN_SCALES: Final = 50  # a sum wraps around with probability e^-50 a cell


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdRound:
    """Runs one round: every participant sends `shares` shares of every cell's noisy mass, on all levels.

    Guarantee: loss epsilon, δ under REPLACE. For at least `persons` honest participants the difference of two
    Pólya(1/n) sums is discrete Laplace noise of `law.level_scales` in every cell; more only add noise of
    their own. What the shuffler shows is within `view_distance` a cell of what could be made from the sums
    alone, so δ = (1 + e^ε) · m · (that distance + 2n sampling errors). Nothing is left without the shuffler.
    Edge cases: fewer participants than `persons`, or more than `capacity`, publish nothing.
    Error: as `ShuffleEmd`.
    References: as `ShuffleEmd`.
    """

    law: ShuffleEmd  # what is released, as one mechanism
    delta: Fraction
    persons: int  # n, the least number of honest participants
    capacity: int  # the most participants
    shares: int  # r

    def __post_init__(self) -> None:
        exact_decimal("delta", Fraction(self.delta), low=0, low_open=True, high=Fraction(1, 2))
        in_range(0, HIGHEST_EPSILON, epsilon=self.law.epsilon)
        in_range(2, MOST_PERSONS, persons=self.persons)
        in_range(self.persons, MOST_PERSONS, capacity=self.capacity)
        if self.spent_delta > self.delta:
            raise ParameterError("shares", self.shares, f"more: these need δ = {self.spent_delta:.3g}")

    @classmethod
    def calibrate(
        cls, law: ShuffleEmd, *, delta: Fraction, persons: int, capacity: int | None = None
    ) -> Self:
        """Returns the round with the fewest shares. Errors: `ParameterError`."""
        in_range(0, HIGHEST_EPSILON, epsilon=law.epsilon)
        most = persons if capacity is None else capacity
        distance = float(delta) / (_odds(law) * _coordinates(law))  # samplers' errors are nothing beside it
        shares = least_shares(persons=persons, modulus=_modulus(law, most), distance=distance)
        return cls(law=law, delta=Fraction(delta), persons=persons, capacity=most, shares=shares)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            relation=Relation.REPLACE,
            trust=Trust.SHUFFLE,
            delta=self.delta,
            terms=(Term(cap=self.law.epsilon),),
            if_shuffler_fails=Guarantee.flat(relation=Relation.REPLACE, epsilon=INFINITY, trust=Trust.LOCAL),
        )

    @property
    def spent_delta(self) -> float:
        distance = view_distance(persons=self.persons, modulus=self.modulus, shares=self.shares)
        return _odds(self.law) * self.coordinates * (distance + 2 * self.persons * float(TOTAL_VARIATION))

    @property
    def coordinates(self) -> int:
        """Returns m: cells of all levels."""
        return _coordinates(self.law)

    @property
    def modulus(self) -> int:
        """Returns q: a power of two that holds all masses and the noise on both sides."""
        return _modulus(self.law, self.capacity)

    @property
    def bits(self) -> int:
        """Returns the bits that each participant sends: r·m·⌈log2(m·q)⌉."""
        return communication_bits(shares=self.shares, coordinates=self.coordinates, modulus=self.modulus)

    def vectors(
        self, persons: NDArray[np.int64], cells: NDArray[np.int64], masses: NDArray[np.int64], *, count: int
    ) -> NDArray[np.int64]:
        """Returns `(count, m)` masses in parts, level by level: what each device has before its noise.

        persons: (k,) from 0 to count − 1; cells: (k,) Morton codes of the finest level; masses: (k,) parts,
        at most `law.parts` a person. Coarser levels are sums of the finest.
        """
        vectors = np.zeros((count, self.coordinates), np.int64)
        start, finest = 0, self.law.levels[-1]
        for level in self.law.levels:
            np.add.at(vectors, (persons, start + parent(cells, finest - level)), masses)
            start += 4**level
        return vectors

    def randomise(self, vectors: NDArray[np.int64], rng: RandomSource) -> Words:
        """Returns `(n, m)` modulo q: each device adds the difference of two Pólya(1/n) draws to each mass."""
        noisy = vectors.copy()
        start, shape = 0, Fraction(1, self.persons)
        for level, scale in zip(self.law.levels, self.law.level_scales, strict=True):
            part = noisy[:, start : start + 4**level]
            for sign in (1, -1):
                noise = clustered_polya(rng, shape=shape, scale=scale, size=part.size)
                part += sign * noise.reshape(part.shape)
            start += 4**level
        return noisy.astype(np.uint64) & np.uint64(self.modulus - 1)

    def split(self, noisy: Words, rng: RandomSource) -> Words:
        """Returns `(n, m, r)`: what each device sends, every share with its cell."""
        return split(noisy, rng, modulus=self.modulus, shares=self.shares)

    def shuffle(self, shares: Words, rng: RandomSource, *, honest: int | None = None) -> Words | None:
        """Returns `(m, n · r)` what the shuffler publishes, or nothing.

        honest: how many of the participants are known not to collude; by default all.
        """
        participants = shares.shape[0]
        enough = min(participants, participants if honest is None else honest) >= self.persons
        if not enough or participants > self.capacity:
            return None
        return shuffle_shares(shares, rng)

    def noisy_masses(self, shuffled: Words) -> NDArray[np.int64]:
        """Returns `(m,)` sums in parts: those in the upper margin of the modulus are negative."""
        return self.signed(sums(shuffled, modulus=self.modulus))

    def signed(self, added: Words) -> NDArray[np.int64]:
        """Returns `(m,)` sums in parts from sums modulo q."""
        sums = added.astype(np.int64)
        return np.where(sums >= self.modulus - _margin(self.law), sums - self.modulus, sums)

    def analyse(self, shuffled: Words) -> Heatmap:
        """Returns the reconstruction from the sums of all shares, as `ShuffleEmd` makes it."""
        return self.reconstructed(self.noisy_masses(shuffled))

    def reconstructed(self, noisy: NDArray[np.int64]) -> Heatmap:
        """Reconstructs the map from `(m,)` sums in parts."""
        start, candidates = 0, np.arange(4 ** self.law.levels[0])
        measured = []
        for level in self.law.levels:
            values = noisy[start + candidates]
            is_selected = np.zeros(candidates.size, dtype=np.bool_)
            is_selected[largest(values, DEFAULT_WIDTH)] = True
            measured.append(
                MeasuredLevel(level=level, cells=candidates, noisy=values, is_selected=is_selected)
            )
            candidates = children(candidates[is_selected])
            start += 4**level
        return reconstruct(measured, unit=self.law.parts)


def _coordinates(law: ShuffleEmd) -> int:
    return sum(4**level for level in law.levels)


def _margin(law: ShuffleEmd) -> int:
    return math.ceil(_MARGIN_SCALES * max(law.level_scales))


def _modulus(law: ShuffleEmd, capacity: int) -> int:
    return 1 << (law.parts * capacity + 2 * _margin(law)).bit_length()


def _odds(law: ShuffleEmd) -> float:
    return 1 + math.exp(float(law.epsilon))
