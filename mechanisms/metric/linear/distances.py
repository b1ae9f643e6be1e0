"""Releases mean distances of persons' check-ins to given places: emd-linear for distances."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.check import ParameterError
from mechanisms.expected_error import WITHIN_ERRORS, PointError
from mechanisms.mechanism import Target
from mechanisms.metric.linear.answers import PARTS, AnswerSums, Integers, LinearAnswers
from mechanisms.metric.linear.queries import RegionDistances
from mechanisms.randomness import RandomSource
from mechanisms.results.distances import PlaceDistances, Places
from mechanisms.space.grid import Region

_QUANTITY: Final = (
    "Expected error of each mean distance; nineteen times in twenty it is at most the second distance."
)
_ASSUMPTIONS: Final = (
    "The same for every place and any data. Means are over all people enrolled; those without check-ins "
    "count in the middle of the region. Distances are straight lines in the region's flat projection."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdDistances(LinearAnswers):
    """Averages over people how far their check-ins are from each place, and adds integer noise.

    A person's answers are means over their check-ins, in `PARTS` of the region's diameter
    (`RegionDistances`). Who has no check-ins stands in the middle of the region.

    Guarantee: one term, delta 0, under REPLACE: Algorithm 1 and Theorem 4.1 of Imola et al. 2024. One person
    who moves by d in the earth mover's distance moves each of k mean distances by at most d, and so the
    answers by k·d in the L1 and √k·d in the Euclidean norm (`LinearAnswers` says what noise that takes).
    d is that of records as read (`Guarantee`).
    Edge cases: points outside the region count at its nearest edge. Distances are cut to 0 and the diameter
    afterwards.
    Error: √(k+1)·ω/n for the scale ω of a person's noise; of one place √2·ω/n.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithm 1; Hardt, Talwar, STOC 2010.
    """

    name: ClassVar[str] = "emd-distances"
    places: Places

    def __post_init__(self) -> None:
        LinearAnswers.__post_init__(self)  # super() knows the class only as it was before slots were added
        object.__setattr__(self, "places", Places.parse(self.places))
        self.query  # noqa: B018 - places outside the region are refused here

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        if "places" not in parameters:
            raise ParameterError("places", "missing", "the places that are asked about, as GeoJSON")
        return cls.spending(target, region=region, persons=persons, **parameters)

    @property
    def query(self) -> RegionDistances:
        return _query(self.region, self.places)

    @property
    def absent(self) -> Integers:
        """Returns `(d,)` distances in PARTS of the region's middle."""
        west, south, east, north = self.region
        values = self.query.values(np.array([(south + north) / 2]), np.array([(west + east) / 2]))
        return np.asarray(np.rint(values[0] * PARTS), np.int64)

    def release(self, sums: AnswerSums, rng: RandomSource) -> PlaceDistances:
        """Draws once; then distances are cut to 0 and the region's diameter."""
        diameter_m = self.query.reach_m
        return PlaceDistances(
            places=self.places,
            distances_m=tuple(float(mean * diameter_m) for mean in self.means(sums, rng)),
            standard_error_m=self.unit_error * float(diameter_m),
        )

    def expected_error(self) -> PointError:
        """Returns the error of one coordinate of the K-norm law:
        its length is Gamma(d, ω), its direction uniform.
        """
        deviation_m = self.unit_error * float(self.query.reach_m)
        d = len(self.places)
        along = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)
        return PointError(
            expected_m=deviation_m / math.sqrt(d + 1) * d * along,
            within_m=WITHIN_ERRORS * deviation_m,
            quantity=_QUANTITY,
            assumptions=_ASSUMPTIONS,
        )


@lru_cache(maxsize=256)
def _query(region: Region, places: Places) -> RegionDistances:
    return RegionDistances(region=region, places=tuple(place.degrees for place in places))
