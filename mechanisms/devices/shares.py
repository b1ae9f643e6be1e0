"""Plans the sparse map of devices: noisy masses of all squares, split into shares of which only sums tell."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np

from mechanisms.central.sparse_emd.mechanism import DEFAULT_WIDTH
from mechanisms.check import ParameterError
from mechanisms.devices.plan import (
    Influence,
    Json,
    Kind,
    Messages,
    big_endian,
    check_messages,
    check_reports,
    in_parts,
    number,
)
from mechanisms.devices.several import several
from mechanisms.error_bounds import LevelNoise, sparse_reconstruction
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee, Trust
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.clustered_polya import cluster_counts
from mechanisms.samplers.negative_binomial import DrawTable
from mechanisms.shuffle.emd_round import EmdRound
from mechanisms.shuffle.shuffle_emd import ShuffleEmd

NUMBER_BYTES: Final = 24
MOST_NUMBER_BYTES: Final = 88
TABLE_PART: Final = Fraction(1, 2**20)  # of δ, for what rounding the tables costs
_COORDINATE_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesPlan:
    """Plans `EmdRound`; an integer table gives the number of clusters of each Pólya number.

    Guarantee: that of the round, its δ and (1 + e^ε) · m · 2n · total variation of a table together at most
    `delta`. A table is the round's own one cut to `number_bytes`: each of its sums moves by less than one
    unit, so that the total variation is at most its entries times one unit.
    Edge cases: shares of no coordinate, or not below the modulus, are left out.
    Error: noise grows with every further report: of k times the `persons`, ⌈k⌉ times the noise is a bound.
    """

    name: ClassVar[str] = ShuffleEmd.name
    trust: ClassVar[Trust] = Trust.SHUFFLE
    kind: ClassVar[Kind] = "heatmap"
    round: EmdRound
    delta: Fraction
    number_bytes: int
    diameter_m: float

    def __post_init__(self) -> None:
        check_messages("resolution", self.resolution, self.messages)
        if self.spent_delta > self.delta:
            raise ParameterError("delta", float(self.delta), f"at least {float(self.spent_delta):.6g}")

    @classmethod
    def calibrate(cls, emd_round: EmdRound, *, delta: Fraction, diameter_m: float) -> Self:
        """Returns the plan with the fewest bytes a number, in steps of 8,
        that cost at most `TABLE_PART` of δ.
        """
        for number_bytes in range(NUMBER_BYTES, MOST_NUMBER_BYTES + 1, 8):
            if table_charge(emd_round, number_bytes) <= delta * TABLE_PART:
                return cls(round=emd_round, delta=delta, number_bytes=number_bytes, diameter_m=diameter_m)
        raise ParameterError("epsilon", float(emd_round.law.epsilon), "less, for devices' tables")

    @property
    def resolution(self) -> int:
        return self.round.law.resolution

    @property
    def spent_delta(self) -> Fraction:
        """Returns the δ of the round and that of cutting the tables."""
        return Fraction(self.round.spent_delta) + table_charge(self.round, self.number_bytes)

    @property
    def encoding(self) -> dict[str, Json]:
        law = self.round.law
        return {
            "kind": "shares",
            "levels": list(law.levels),
            "parts": law.parts,
            "shares": self.round.shares,
            "modulus": number(self.round.modulus),
            "value_bytes": self._value_bytes,
            "scales": [str(scale) for scale in law.level_scales],
            "cluster_entries": [len(table.ends) - 1 for table in _tables(self.round)],
            "number_bytes": self.number_bytes,
        }

    @property
    def table(self) -> bytes:
        return b"".join(_cut(table, self.number_bytes) for table in _tables(self.round))

    @property
    def messages(self) -> int:
        return self.round.shares * self.round.coordinates

    @property
    def message_bytes(self) -> int:
        return _COORDINATE_BYTES + self._value_bytes

    @property
    def per_report(self) -> Guarantee:
        return replace(self.round.guarantee, delta=self.delta)

    def guarantee(self, reports: int) -> Guarantee:
        return several(self.per_report, reports, diameter_m=self.diameter_m)

    def expected_error(self, reports: int) -> ErrorBound:
        check_reports(reports, self.round.capacity)
        law, times = self.round.law, max(1, math.ceil(reports / self.round.persons))
        noise = [
            LevelNoise(level=level, scale_persons=times * float((scale + 1) / law.unit))
            for level, scale in zip(law.levels, law.level_scales, strict=True)
        ]
        bound = sparse_reconstruction(noise, width=DEFAULT_WIDTH, persons=reports)
        left_out = "What cutting masses to whole parts loses is left out. Every report is honest."
        return replace(bound, assumptions=f"{bound.assumptions} {left_out}")

    def analyse(self, messages: Messages, reports: int) -> Heatmap:
        check_reports(reports, self.round.capacity)
        added = np.zeros(self.round.coordinates, np.uint64)
        for part in in_parts(messages):
            coordinates = big_endian(part[:, :_COORDINATE_BYTES])
            values = big_endian(part[:, _COORDINATE_BYTES:])
            valid = (coordinates < added.size) & (values >= 0) & (values < self.round.modulus)
            np.add.at(added, coordinates[valid], values[valid].astype(np.uint64))  # wraps at 2^64
        added &= np.uint64(self.round.modulus - 1)
        return self.round.reconstructed(self.round.signed(added))

    def influence(self, dishonest: int, reports: int) -> Influence:
        check_reports(reports, self.round.capacity)
        return Influence(
            number=math.inf if dishonest else 0.0,
            unit="people",
            sentence="One dishonest device can already make the map say anything: its shares are numbers of "
            "its choice, and nobody can see it.",
        )

    @property
    def _value_bytes(self) -> int:
        return -(-(self.round.modulus - 1).bit_length() // 8)


def table_charge(emd_round: EmdRound, number_bytes: int) -> Fraction:
    """Returns (1 + e^ε) · m · 2n · total variation; rounded up."""
    odds = Fraction(math.exp(float(emd_round.law.epsilon)) * (1 + 1e-9)) + 1
    entries = max(len(table.ends) for table in _tables(emd_round))
    return odds * emd_round.coordinates * 2 * emd_round.persons * Fraction(entries, 1 << 8 * number_bytes)


def _tables(emd_round: EmdRound) -> list[DrawTable]:
    return [cluster_counts(Fraction(1, emd_round.persons), scale) for scale in emd_round.law.level_scales]


def _cut(table: DrawTable, number_bytes: int) -> bytes:
    """Returns running sums without the last one."""
    shift = table.ends[-1].bit_length() - 1 - 8 * number_bytes
    return b"".join((end >> shift).to_bytes(number_bytes, "big") for end in table.ends[:-1])
