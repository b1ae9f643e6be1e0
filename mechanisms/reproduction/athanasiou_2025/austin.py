"""Reads persons in the paper's rectangle around Austin; central points with and without snapping."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.accounting.two_axes import disk
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.reproduction.check_ins import read_check_ins
from mechanisms.samplers.two_sided import two_sided_geometric
from mechanisms.shuffle.centroid import GeoShuffle, SgdlShuffle
from mechanisms.shuffle.geo_shuffle import CUT_PART
from mechanisms.shuffle.padded_noise import PaddedNoise, padding_for
from mechanisms.shuffle.plane_noise import calibrate_two_axes
from mechanisms.shuffle.protocol import rounded_down
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid
from mechanisms.space.grid import Region

REGION: Final = Region(-98.27048, 30.091, -97.3819, 30.95534)
CELL_M: Final = 100
RADIUS_M: Final = 600
DELTA: Final = Fraction(1, 10**4)
DOMAIN: Final = 1000
_DRAWS_AT_A_TIME: Final = 4_000_000
Lengths: TypeAlias = NDArray[np.float64]  # `(runs,)` metres


def positions(path: Path | None) -> NDArray[np.int64]:
    """Returns `(k, 2)` places in 1/`PARTS` of the rectangle, from west and south: one a row of the file, or
    made up (100,000 uniform ones).

    Errors: OSError, KeyError, ValueError; `ParameterError` for a file with nobody in the rectangle.
    """
    if path is None:
        rng = np.random.default_rng(0)
        return rng.integers(0, PARTS, (100_000, 2), dtype=np.int64)
    _, lat, lon = read_check_ins(path)
    across = (lon - REGION.west) / (REGION.east - REGION.west)
    along = (lat - REGION.south) / (REGION.north - REGION.south)
    shares = np.stack([across, along], axis=1)
    inside = ((shares >= 0) & (shares <= 1)).all(axis=1)
    if not inside.any():
        raise ParameterError("FILE", path.name, "check-ins around Austin, Texas")
    return np.minimum((shares[inside] * PARTS).astype(np.int64), PARTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AustinPersons:
    """Holds n persons, one place each, and the mechanisms at the table's radius, δ and squares."""

    persons: int
    epsilon: Fraction  # at the radius
    places: NDArray[np.int64]  # (n, 2)

    @property
    def means(self) -> RecordMeans:
        x, y = (int(total) for total in self.places.sum(axis=0))
        return RecordMeans(persons=self.persons, x=x, y=y)

    def mechanism(self, kind: type[ShuffledCentroid]) -> ShuffledCentroid:
        target = Target(
            relation=Relation.REPLACE, epsilon=self.epsilon, delta=DELTA, radius_m=Fraction(RADIUS_M)
        )
        return kind.calibrate(target, region=REGION, persons=self.persons, cell_m=Fraction(CELL_M))

    def released(self, kind: type[ShuffledCentroid], runs: int, seed: int) -> Lengths:
        """Returns distances of released points from the persons' mean, snapping accounted for."""
        mechanism, rng = self.mechanism(kind), SeededSource(seed)
        if isinstance(mechanism, GeoShuffle | SgdlShuffle):
            noise = plane_noise(mechanism.noise(), self.persons, runs, rng)
            return self._lengths(noise + np.array(mechanism.lattice.sums(self.means)))
        sums = [mechanism.noisy_sums(self.means, rng) for _ in range(runs)]
        return self._lengths(np.array(sums, dtype=np.float64))

    def central(self, epsilon_axis: Fraction, runs: int, seed: int) -> Lengths:
        """Returns distances where one trusted party adds geometric noise to each sum:
        the optimum at that loss.
        """
        rng = SeededSource(seed)
        noise = two_sided_geometric(rng, epsilon=epsilon_axis, size=2 * runs).reshape(runs, 2)
        return metres(noise, self.persons)

    def _lengths(self, sums: NDArray[np.float64]) -> Lengths:
        lattice = self.mechanism(SgdlShuffle).lattice
        sides = ((self.means.x, REGION.width_m), (self.means.y, REGION.height_m))
        true_m = np.array([float(Fraction(value, PARTS) * Fraction(side)) for value, side in sides])
        return metres(sums - true_m / float(lattice.cell_m), self.persons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsnapped:
    """Accounts as the paper does: the radius is 6 squares, as if everybody stood in the middle of one."""

    persons: int
    epsilon: float

    @property
    def radius(self) -> int:
        return RADIUS_M // CELL_M

    @property
    def epsilon_axis(self) -> float:
        """Returns the loss a step on one axis."""
        return self.epsilon / self.radius / math.sqrt(2)

    def geo_per_axis(self) -> float:
        """Returns ε_geo with δ/2 for the noise, half of that an axis."""
        return calibrate_geo_sum(
            persons=self.persons, epsilon=self.epsilon_axis, delta=float(DELTA) / 4, radius=self.radius
        )

    def geo_two_axes(self) -> float:
        """Returns ε_geo of both axes together, δ/2 for the noise."""
        return calibrate_two_axes(
            self.persons, self.epsilon / self.radius, float(DELTA) / 2, disk(self.radius)
        )

    def response(self) -> RrSum:
        """Returns RR-Shuffle on one axis with the exact account."""
        return RrSum.calibrate(
            persons=self.persons,
            epsilon=rounded_down(self.epsilon_axis),
            delta=DELTA / 2,
            radius=self.radius,
            domain=DOMAIN,
        )

    def padded(self, shape: Fraction, epsilon: float) -> PaddedNoise:
        """Returns the noise that is drawn on both axes,
        cut where that costs nearly nothing (Geo) or δ (SGDL).
        """
        exact, part = rounded_down(epsilon), float(DELTA) * (CUT_PART if shape == 1 else 1 - CUT_PART)
        padding = padding_for(
            draws=2 * self.persons, shape=shape, epsilon=exact, part=part, loss=self.epsilon
        )
        return PaddedNoise(shape=shape, epsilon=exact, padding=padding, domain=DOMAIN)


def plane_noise(noise: PaddedNoise, persons: int, runs: int, rng: RandomSource) -> NDArray[np.float64]:
    """Returns `(runs, 2)` sums of everybody's noise on two axes, in squares."""
    sums, at_once = np.empty((runs, 2)), max(1, _DRAWS_AT_A_TIME // (2 * persons))
    for first in range(0, runs, at_once):
        count = min(at_once, runs - first)
        draws = noise.noise(rng, count * 2 * persons).reshape(count, 2, persons)
        sums[first : first + count] = draws.sum(axis=2)
    return sums


def metres(squares: NDArray[np.float64] | NDArray[np.int64], persons: int) -> Lengths:
    """Returns `(runs,)` lengths of the average, from `(runs, 2)` sums over persons in squares."""
    lengths: Lengths = np.hypot(squares[:, 0], squares[:, 1]) * CELL_M / persons
    return lengths


def some_of(places: NDArray[np.int64], persons: int, seed: int) -> NDArray[np.int64]:
    """Returns `(persons, 2)` rows, drawn without replacement as far as there are enough."""
    rng = np.random.default_rng(seed)
    rows: NDArray[np.int64] = places[rng.choice(len(places), persons, replace=len(places) < persons)]
    return rows
