"""Plans RR-Shuffle on devices: squares as ones among bits, each of which may be flipped."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import erfinv

from mechanisms.devices.centroid import BitsPlan, places_of
from mechanisms.devices.plan import Json, check_messages
from mechanisms.guarantee import Guarantee
from mechanisms.shuffle.centroid import RrShuffle
from mechanisms.shuffle.plane_noise import BINS
from mechanisms.shuffle.rr_shuffle import RrSum


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipsPlan(BitsPlan):
    """Plans `RrShuffle`: its integers are what devices use, so that its guarantee is theirs."""

    randomiser: RrShuffle

    def __post_init__(self) -> None:
        places_of(self.randomiser.lattice)
        check_messages("cell_m", float(self.randomiser.cell_m), self.messages)

    @property
    def mechanism(self) -> RrShuffle:
        return self.randomiser

    @property
    def encoding(self) -> dict[str, Json]:
        return {"kind": "flips", **self._places, "flips": [axis.flips for axis in self._axes]}

    @property
    def table(self) -> bytes:
        return b""

    @property
    def messages(self) -> int:
        return sum(self._domains)

    @property
    def per_report(self) -> Guarantee:
        return self.randomiser.guarantee_with_shuffler

    @property
    def _axes(self) -> tuple[RrSum, RrSum]:
        return self.randomiser.noise()

    def _squares(self, axis: int, ones: Fraction, reports: int) -> Fraction:
        return self._axes[axis].analyse(int(ones), reports)

    def _noise_length(self, reports: int) -> tuple[float, float]:
        across, along = (axis.standard_error(reports) for axis in self._axes)
        return _normal_length(across, along)


@lru_cache(maxsize=64)
def _normal_length(across: float, along: float) -> tuple[float, float]:
    """Returns the length of normal noise on each axis, as for stored check-ins."""
    steps = math.sqrt(2) * erfinv((np.arange(BINS) + 0.5) / BINS)
    lengths = np.sort(np.hypot(across * steps[:, np.newaxis], along * steps).ravel())
    return float(lengths.mean()), float(lengths[int(0.95 * lengths.size)])
