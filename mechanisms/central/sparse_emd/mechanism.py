"""Aggregates sparsely under the earth mover's distance, by the algorithm of Ghazi et al. 2022."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from mechanisms.calibration import check_masses, mass_unit, noise_scale
from mechanisms.central.sparse_emd.level_budgets import shares, start_level
from mechanisms.central.sparse_emd.measurement import MeasuredLevel, measure_tree
from mechanisms.central.sparse_emd.reconstruction import reconstruct
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.error_bounds import LevelNoise, sparse_reconstruction
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import GridMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap

DEFAULT_WIDTH: Final = 20
DEFAULT_DECAY: Final = Fraction("0.70710678118654752440")  # 1/√2, the paper's footnote 5
LOWEST_DECAY: Final = Fraction(1, 2)  # at and below it the error grows with the number of levels
HIGHEST_WIDTH: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseEmd(GridMechanism):
    """Finds the heaviest `width` cells of every quadtree level with noise and makes them into one map.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. Level i gets
    epsilon_i, their sum is epsilon exactly (`level_epsilons`); one person moves the cells of a level by
    at most 1 in L1 (ADD_REMOVE) or 2 (REPLACE); which cells are measured next depends on noisy values
    only, so adaptive composition applies. Proof of Theorem 3.1 of Ghazi et al. 2022, privacy part.
    Edge cases: levels coarser than q = ⌊log2 √width⌋ are not measured (§4 of the paper); a grid coarser
    than that is measured at its own level. Equal noisy values are kept in Morton order. A failing linear
    programme is replaced by a plain rule (`reconstruct`). All 0 makes a uniform dense map.
    Error: `expected_error`. No standard errors (nan): the reconstruction has no known law.
    References: Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "Differentially Private
    Heatmaps", 2022, Algorithms 1 and 2, as run in §4; Indyk, Price, STOC 2011.
    """

    name: ClassVar[str] = "sparse-emd"
    highest_resolution: ClassVar[int] = 2**16
    width: int = DEFAULT_WIDTH  # w: cells kept a level
    decay: Fraction = DEFAULT_DECAY  # γ: a level's budget as part of the coarser one's

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        if not isinstance(self.width, int) or not 1 <= self.width <= HIGHEST_WIDTH:
            raise ParameterError("width", self.width, f"a whole number from 1 to {HIGHEST_WIDTH}")
        decay = exact_decimal("decay", self.decay, low=LOWEST_DECAY, high=1)
        object.__setattr__(self, "decay", decay)
        self.unit  # noqa: B018 - an epsilon that integers cannot carry is refused here

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=sum(self.level_epsilons, Fraction(0)))

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return mass_unit(self.relation, self.epsilon, smallest_share=min(self._shares))

    @property
    def first_level(self) -> int:
        """Returns q: the coarsest level that is measured."""
        return start_level(self.width, self.level)

    @property
    def level_epsilons(self) -> tuple[Fraction, ...]:
        """Returns epsilon_i for the levels from `first_level` to the grid's own;
        their sum is epsilon exactly.
        """
        return tuple(self.epsilon * share for share in self._shares)

    @property
    def level_scales(self) -> tuple[Fraction, ...]:
        """Returns the scales of the noise on each of these levels, in mass units."""
        unit = self.unit
        return tuple(noise_scale(self.relation, epsilon, unit) for epsilon in self.level_epsilons)

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[MeasuredLevel, ...]:
        """Draws the private part of `release`: everything after it sees nothing else."""
        check_masses(masses, level=self.level, unit=self.unit)
        return measure_tree(
            masses, rng, first_level=self.first_level, scales=self.level_scales, width=self.width
        )

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        return reconstruct(self.measure(masses, rng), unit=self.unit)

    def expected_error(self, *, persons: int) -> ErrorBound:
        unit = self.unit
        levels = [  # |noise| is at most an exponential variable plus one unit
            LevelNoise(level=level, scale_persons=float((scale + 1) / unit))
            for level, scale in enumerate(self.level_scales, start=self.first_level)
        ]
        return sparse_reconstruction(levels, width=self.width, persons=persons)

    @property
    def _shares(self) -> tuple[Fraction, ...]:
        return shares(self.decay, self.level - self.first_level + 1)
