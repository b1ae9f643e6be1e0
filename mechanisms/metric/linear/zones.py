"""Releases shares of people in zones with soft edges: emd-linear for region fractions."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

from mechanisms.check import ParameterError, exact_decimal
from mechanisms.expected_error import WITHIN_ERRORS, ShareError
from mechanisms.mechanism import LARGEST_LENGTH_M, Target
from mechanisms.metric.linear.answers import AnswerSums, LinearAnswers
from mechanisms.metric.linear.queries import RegionFractions
from mechanisms.randomness import RandomSource
from mechanisms.results.zones import Zones, ZoneShares
from mechanisms.space.geojson import PER_DEGREE
from mechanisms.space.grid import Region

SMALLEST_MARGIN_M: Final = 1
USUAL_MARGINS: Final = 2  # in radii, where none is chosen
_QUANTITY: Final = (
    "Standard error of each share: more than two times in three a share is nearer to the true one than that, "
    f"nineteen times in twenty nearer than {WITHIN_ERRORS} times that."
)
_ASSUMPTIONS: Final = (
    "The same for every zone and any data. Shares are of all people enrolled; those without check-ins are "
    "in no zone. A zone's edge is soft, which is not an error: it is what is asked."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdZones(LinearAnswers):
    """Averages over people how much of their record is in each zone, and adds integer noise.

    A check-in counts 1 inside a zone, falling to 0 over `margin_m` outside (`RegionFractions`), at the middle
    of its cell. A person's answers are means over their check-ins, rounded down to whole `PARTS`.

    Guarantee: one term, delta 0, under REPLACE: Algorithm 1 and Theorem 4.1 of Imola et al. 2024. One person
    who moves by d in the earth mover's distance moves the answers by at most ℓ·d. Noise is whichever errs
    less, from public facts: independent discrete Laplace noise on each zone, for the L1 norm, where at most
    k zones change at a time and ℓ = k/margin, or the K-norm law for the Euclidean norm, ℓ = √k/margin. Cells
    and roundings are in `offset_m`; no person moves the answers by more than their `cap`, which is what an
    exchange with a record without check-ins, whose answers are 0, may cost.
    d is that of records as read (`Guarantee`).
    Edge cases: points outside the region count at its nearest edge. Shares are cut to 0..1 afterwards.
    Error: √2·b/n or √(d+1)·ω/n of a share, for the scale b or ω of a person's noise and d zones.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithm 1; Hardt, Talwar, STOC 2010.
    """

    name: ClassVar[str] = "emd-zones"
    zones: Zones
    margin_m: Fraction

    def __post_init__(self) -> None:
        LinearAnswers.__post_init__(self)  # super() knows the class only as it was before slots were added
        margin_m = exact_decimal("margin_m", self.margin_m, low=SMALLEST_MARGIN_M, high=LARGEST_LENGTH_M)
        object.__setattr__(self, "margin_m", margin_m)
        object.__setattr__(self, "zones", Zones.parse(self.zones))
        _check_place(self.zones, self.region)

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        if "zones" not in parameters:
            raise ParameterError("zones", "missing", "the zones that are asked about, as GeoJSON")
        margin_m = max(USUAL_MARGINS * target.needed_radius_m, Fraction(SMALLEST_MARGIN_M))
        options = {"margin_m": margin_m, **parameters}
        return cls.spending(target, region=region, persons=persons, **options)

    @property
    def query(self) -> RegionFractions:
        return _query(self.region, self.zones, self.margin_m)

    def release(self, sums: AnswerSums, rng: RandomSource) -> ZoneShares:
        """Draws once; then shares are cut to 0..1."""
        return ZoneShares(
            zones=self.zones,
            margin_m=self.margin_m,
            shares=tuple(map(float, self.means(sums, rng))),
            standard_error=self.unit_error,
        )

    def expected_error(self) -> ShareError:
        return ShareError(share=self.unit_error, quantity=_QUANTITY, assumptions=_ASSUMPTIONS)


@lru_cache(maxsize=256)
def _query(region: Region, zones: Zones, margin_m: Fraction) -> RegionFractions:
    rings = [[(lat, lon) for lon, lat in zone.degrees[:-1]] for zone in zones]
    return RegionFractions.of_rings(region, rings, margin_m=margin_m)


def _check_place(zones: Zones, region: Region) -> None:
    west, south, east, north = (Fraction(edge) * PER_DEGREE for edge in region)
    for zone in zones:
        lons, lats = zip(*zone.corners, strict=True)
        if min(lons) >= east or max(lons) <= west or min(lats) >= north or max(lats) <= south:
            raise ParameterError(
                "zones", f"“{zone.name}”", "zones that lie in the dataset's region, or partly"
            )
