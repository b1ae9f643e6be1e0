"""Plans Geo- and SGDL-Shuffle on devices: squares plus noise within a padding, as ones among bits."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

from mechanisms.accounting.sgdl import sgdl
from mechanisms.check import ParameterError
from mechanisms.devices.centroid import BitsPlan, places_of
from mechanisms.devices.conditioned import conditioned_table, off_by
from mechanisms.devices.plan import Json, check_messages
from mechanisms.guarantee import Guarantee
from mechanisms.shuffle.centroid import GeoShuffle, SgdlShuffle
from mechanisms.shuffle.padded_noise import PaddedNoise
from mechanisms.shuffle.plane_noise import noise_length

NUMBER_BYTES: Final = 24
MOST_NUMBER_BYTES: Final = 88  # the tables of shared noise have 768 bits, 64 of which are spare
TABLE_PART: Final = Fraction(1, 2**20)  # of δ, for what rounding the table costs
_SURE_BITS: Final = 100  # of the smallest weight of a table


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryPlan(BitsPlan):
    """Plans `GeoShuffle` or `SgdlShuffle` with the noise of every axis drawn from an integer table.

    Guarantee: as the mechanism's, its δ and (1 + e^loss) · total variation of the table for each of the two
    draws of `persons` honest reports together at most `delta`. Without the shuffler the mechanism's own
    bounds hold for the table as well: all its weights have at least 100 bits, so that rounding changes their
    ratios by far less than the rounding up of `if_shuffler_fails` is worth.
    References: as the mechanism.
    """

    # `_squares` is linear in the ones: dishonest bits count as they are.
    usual_steps: ClassVar[int] = 8  # squares in the radius: each bit is a message
    randomiser: GeoShuffle | SgdlShuffle
    delta: Fraction
    number_bytes: int

    def __post_init__(self) -> None:
        places_of(self.randomiser.lattice)
        check_messages("cell_m", float(self.randomiser.cell_m), self.messages)
        if self.spent_delta > self.delta:
            raise ParameterError("delta", float(self.delta), f"at least {float(self.spent_delta):.6g}")
        if _smallest_bits(self._noise, self.number_bytes) < _SURE_BITS:
            raise ParameterError("number_bytes", self.number_bytes, "more, for the table's smallest weight")

    @classmethod
    def calibrate(cls, randomiser: GeoShuffle | SgdlShuffle, *, delta: Fraction, most_reports: int) -> Self:
        """Returns the plan with the fewest bytes a number, in steps of 8,
        that cost at most `TABLE_PART` of δ.
        """
        for number_bytes in range(NUMBER_BYTES, MOST_NUMBER_BYTES + 1, 8):
            charge, bits = (
                table_charge(randomiser, number_bytes),
                _smallest_bits(randomiser.noise(), number_bytes),
            )
            if charge <= delta * TABLE_PART and bits >= _SURE_BITS:
                return cls(
                    randomiser=randomiser, delta=delta, number_bytes=number_bytes, most_reports=most_reports
                )
        raise ParameterError("epsilon", float(randomiser.epsilon), "less at this reach, for devices' tables")

    @property
    def mechanism(self) -> GeoShuffle | SgdlShuffle:
        return self.randomiser

    @property
    def spent_delta(self) -> Fraction:
        """Returns the δ of the mechanism and that of rounding the table."""
        return Fraction(self.randomiser.delta) + table_charge(self.randomiser, self.number_bytes)

    @property
    def encoding(self) -> dict[str, Json]:
        return {
            "kind": "unary",
            **self._places,
            "domain": self._noise.domain,
            "padding": self._noise.padding,
            "places": self._noise.places,
            "number_bytes": self.number_bytes,
        }

    @property
    def table(self) -> bytes:
        noise = self._noise
        return conditioned_table(noise.shape, noise.epsilon, noise.padding, self.number_bytes)

    @property
    def messages(self) -> int:
        return 2 * self._noise.places

    @property
    def per_report(self) -> Guarantee:
        promised = self.randomiser.guarantee_with_shuffler
        return Guarantee(
            relation=promised.relation,
            delta=self.delta,
            trust=promised.trust,
            max_distance_m=promised.max_distance_m,
            terms=promised.terms,
            if_shuffler_fails=promised.if_shuffler_fails,
        )

    @property
    def _noise(self) -> PaddedNoise:
        return self.randomiser.noise()

    def _squares(self, axis: int, ones: Fraction, reports: int) -> Fraction:  # noqa: ARG002 - alike on both
        return ones - reports * self._noise.padding

    def _noise_length(self, reports: int) -> tuple[float, float]:
        return noise_length(float(self._noise.shape * reports), float(self._noise.epsilon))


def table_charge(mechanism: GeoShuffle | SgdlShuffle, number_bytes: int) -> Fraction:
    """Returns (1 + e^loss) · total variation, for each draw of all honest persons; rounded up."""
    noise = mechanism.noise()
    off = off_by(noise.shape, noise.epsilon, noise.padding, number_bytes)
    odds = Fraction(math.exp(float(mechanism.highest_loss)) * (1 + 1e-9)) + 1
    return 2 * mechanism.persons * odds * off


def _smallest_bits(noise: PaddedNoise, number_bytes: int) -> float:
    """Returns the bits of the weight of the outermost noise; in floating point, to a bit."""
    law = sgdl(float(noise.shape), float(noise.epsilon), radius=noise.padding)
    return 8 * number_bytes + float(law.log_probabilities[noise.padding]) / math.log(2) - 1
