"""Makes the sparse map by shuffled shares, run on stored check-ins. Devices: `emd_round.py`.

Whoever runs it sees the check-ins: trust is CENTRAL, `simulated`. What is released has the law of the round.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final

from mechanisms.calibration import check_masses, noise_scale
from mechanisms.central.sparse_emd.level_budgets import shares, start_level
from mechanisms.central.sparse_emd.measurement import MeasuredLevel, measure_tree
from mechanisms.central.sparse_emd.mechanism import DEFAULT_DECAY, DEFAULT_WIDTH
from mechanisms.central.sparse_emd.reconstruction import reconstruct
from mechanisms.check import ParameterError, power_of_two
from mechanisms.error_bounds import LevelNoise, sparse_reconstruction
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee, Relation, Term
from mechanisms.mechanism import GridMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.clustered_polya import LARGEST_SCALE, SCALE_PARTS

DEFAULT_PARTS: Final = 1024
MOST_PARTS: Final = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleEmd(GridMechanism):
    """Runs `SparseEmd` with masses in `parts` of a person and noise that is the sum of everybody's shares.

    Guarantee: `Guarantee.flat(epsilon)`, `simulated`, between neighbours under REPLACE, whose records have
    masses of at most `parts` each: level i has discrete Laplace noise of scale 2·parts / epsilon_i or more.
    Ghazi et al. 2022, Appendix F, prints Polya(1/n, e^(−epsilon_i)) for masses in B parts, which is B times
    too little, one of two draws whose difference is symmetric, and shares of the vector before the noise.
    Here δ is 0: shares, their number and their δ are matters of the round on devices.
    Edge cases: as `SparseEmd`; devices cut masses to whole parts.
    Error: as `SparseEmd`, what cutting loses left out.
    References: Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "Differentially Private
    Heatmaps", 2022, Appendix F; Balle, Bell, Gascón, Nissim, CCS 2020.
    """

    name: ClassVar[str] = "shuffle-emd"
    highest_resolution: ClassVar[int] = 256  # devices send shares for every cell of every level
    parts: int = DEFAULT_PARTS  # B: what a person's mass is divided into

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        if self.relation is not Relation.REPLACE:
            raise ParameterError("relation", self.relation, f"{Relation.REPLACE}: who takes part is known")
        power_of_two(2, MOST_PARTS, parts=self.parts)
        widest = max(self.level_scales)
        if widest > LARGEST_SCALE:
            least = float(self.epsilon * widest / LARGEST_SCALE)
            raise ParameterError(
                "epsilon", self.epsilon, f"at least {least * 1.001:.2e} with these parameters"
            )

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(relation=self.relation, terms=(Term(cap=self.epsilon),), simulated=True)

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return self.parts

    @property
    def levels(self) -> range:
        """Returns the levels that are measured: q, …, ℓ."""
        return range(start_level(DEFAULT_WIDTH, self.level), self.level + 1)

    @property
    def level_scales(self) -> tuple[Fraction, ...]:
        """Returns the scales of the noise on each of these levels, in parts;
        multiples of a sixteenth, rounded up.
        """
        scales = []
        for share in shares(DEFAULT_DECAY, len(self.levels)):
            scale = noise_scale(self.relation, self.epsilon * share, self.parts)
            scales.append(Fraction(math.ceil(scale * SCALE_PARTS), SCALE_PARTS))
        return tuple(scales)

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[MeasuredLevel, ...]:
        """Returns the sums that the analyst looks at: cells that are not looked at need no noise."""
        check_masses(masses, level=self.levels[-1], unit=self.unit)
        return measure_tree(
            masses, rng, first_level=self.levels[0], scales=self.level_scales, width=DEFAULT_WIDTH
        )

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        return reconstruct(self.measure(masses, rng), unit=self.unit)

    def expected_error(self, *, persons: int) -> ErrorBound:
        levels = [
            LevelNoise(level=level, scale_persons=float((scale + 1) / self.unit))
            for level, scale in zip(self.levels, self.level_scales, strict=True)
        ]
        bound = sparse_reconstruction(levels, width=DEFAULT_WIDTH, persons=persons)
        return replace(
            bound,
            assumptions=f"{bound.assumptions} What cutting masses to whole parts loses is left out.",
        )
