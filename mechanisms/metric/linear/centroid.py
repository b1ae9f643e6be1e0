"""Releases the mean location of all persons' records: emd-linear for the identity query, a central point."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

from mechanisms.candidate_net import MICRO, Plane, rounded_up
from mechanisms.expected_error import POINT_QUANTITY, PointError
from mechanisms.guarantee import Guarantee, Term
from mechanisms.mechanism import CentroidMechanism
from mechanisms.metric.linear.noise import Integers, k_norm
from mechanisms.randomness import RandomSource
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import Region

_MOST_STEP_BITS: Final = 50  # of the noise's width, in lattice steps
_WITHIN_SCALES: Final = 4.744  # (1 + x) exp(-x) = 5 %: planar noise is nearer than that with 95 %
_ASSUMPTIONS: Final = (
    "Holds wherever the true point is; near the region's border it is nearer. People without check-ins "
    "count at the region's centre."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdLinear(CentroidMechanism):
    """Divides the sum of the persons' mean positions plus planar noise by their number.

    The noise z is drawn on the integer lattice that the sums lie on, with probability ∝ exp(-‖z‖ / ω), ‖z‖
    its length in metres (`k_norm`); then the point is clamped to the region, which is post-processing.

    Guarantee: one term, delta 0, under REPLACE: Lemma 4.2, central, of Imola et al. 2024. One person who
    moves by d in the earth mover's distance moves the sum by at most `Region.stretch` · d: the identity is
    1-Lipschitz (Theorem 4.1). A shift by δ metres costs at most δ/ω. Rounding, of check-ins, means and
    lattice, is in `offset_m`; d is that of records as read (`Guarantee`). No person moves the sum by more
    than the region's diameter: `cap`.
    Edge cases: persons without check-ins stand at the region's centre; where the noise is wider than
    2^50 steps the sums are rounded down to a coarser lattice first. `epsilon` is the loss at `radius_m`.
    Error: mean 2ω/n metres, half of what `exponential` needs, which pays for its sum of weights.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithm 1; Hardt, Talwar, STOC 2010.
    """

    name: ClassVar[str] = "emd-linear"
    smallest_epsilon: ClassVar[Fraction] = Fraction(1, 10**9)

    @property
    def guarantee(self) -> Guarantee:
        plane, scale_um = Plane(self.region), self.scale_um
        term = Term(
            cap=(plane.diameter_um + self._lattice_um) / scale_um,
            alpha_per_m=plane.stretch * MICRO / scale_um,
            offset_m=(plane.rounding_um + self._lattice_um) / plane.stretch / MICRO,
        )
        return Guarantee(relation=self.relation, terms=(term,))

    @property
    def scale_um(self) -> Fraction:
        """Returns ω: micrometres the sum of positions moves for a loss of 1, rounded up."""
        return _noise(self.region, self.epsilon, self.radius_m)[1]

    def _draw(self, means: RecordMeans, rng: RandomSource) -> tuple[float, float]:
        box, (x, y) = self.region, self.noisy_sums(means, rng)
        # A sum may be rounded to beyond the border.
        lat = min(box.north, box.south + (box.north - box.south) * _share(y, self.persons))
        lon = min(box.east, box.west + (box.east - box.west) * _share(x, self.persons))
        return lat, lon

    def noisy_sums(self, means: RecordMeans, rng: RandomSource) -> tuple[int, int]:
        """Returns the sums in parts of the region, with noise: all that the guarantee is about."""
        noise, bits = self.noise(rng, size=1)[0].tolist(), self._step_bits
        x, y = ((total >> bits) + part for total, part in zip((means.x, means.y), noise, strict=True))
        return x << bits, y << bits

    def noise(self, rng: RandomSource, *, size: int) -> Integers:
        """Returns `(size, 2)` draws, in lattice steps."""
        plane, (step_bits, scale_um) = Plane(self.region), _noise(self.region, self.epsilon, self.radius_m)
        # One unit of the norm is 2^-32 micrometres, so that a step is a whole number of it.
        steps = (plane.width_um << step_bits, plane.height_um << step_bits)
        return k_norm(rng, steps=steps, scale=scale_um * PARTS, size=size)

    def expected_error(self) -> PointError:
        scale_m, farthest_m = float(self.scale_um) / MICRO / self.persons, self.region.diameter_m
        return PointError(
            expected_m=min(2 * scale_m, farthest_m),
            within_m=min(_WITHIN_SCALES * scale_m, farthest_m),
            quantity=POINT_QUANTITY,
            assumptions=_ASSUMPTIONS,
        )

    @property
    def _step_bits(self) -> int:
        return _noise(self.region, self.epsilon, self.radius_m)[0]

    @property
    def _lattice_um(self) -> Fraction:
        return _lattice_um(Plane(self.region), self._step_bits)


@lru_cache(maxsize=64)
def _noise(region: Region, epsilon: Fraction, radius_m: Fraction) -> tuple[int, Fraction]:
    """Returns (bits, ω in micrometres): sums are counted in 2^bits parts,
    one part unless the noise is very wide.
    """
    plane = Plane(region)
    widest = plane.diameter_um * 2 * PARTS / (epsilon * min(plane.width_um, plane.height_um))
    step_bits = max(0, int(widest).bit_length() - _MOST_STEP_BITS)
    farthest_um = min(radius_m * MICRO * plane.stretch + plane.rounding_um, Fraction(plane.diameter_um))
    return step_bits, rounded_up((farthest_um + _lattice_um(plane, step_bits)) / epsilon)


def _lattice_um(plane: Plane, step_bits: int) -> Fraction:
    """Returns the distance of two sums that rounding to the lattice, and the norm to whole units, adds."""
    rounding = plane.diameter_um << step_bits if step_bits else 0
    return Fraction(rounding + 1, PARTS)


def _share(total: int, persons: int) -> float:
    """Returns the share of the region's side, clamped to it."""
    return float(min(max(Fraction(total, persons * PARTS), Fraction(0)), Fraction(1)))
