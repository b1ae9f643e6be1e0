"""Two rounds of noisy masses, the second on cells that the first found worth it, and one posterior map."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import check_masses, mass_unit, noise_scale
from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.posterior_map import posterior_map
from mechanisms.central.adaptive.quadtree_cut import Cut, grid_level, refined
from mechanisms.central.adaptive.tree_posterior import Posterior, posterior_both_ways
from mechanisms.central.expected_persons import GuessedPersons
from mechanisms.error_bounds import ErrorForecast, adaptive_forecast
from mechanisms.guarantee import Guarantee
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.discrete_laplace import discrete_laplace

ROUND_SHARES: Final = (Fraction(1, 2), Fraction(1, 2))
# A cell is split from so many noise scales of estimated mass on. Chosen on places of the even half, by the
# earth mover's distance (`reproduction/adaptive_accuracy.py` measures it).
WORTH_SPLITTING: Final = 5.0  # in the first round
WORTH_A_FEW: Final = (3.0, 3)  # in the first round up to this level: a few cells show too little
# In the second round: cells coarser than the first grid's, these, cells one level finer, and finer ones. The
# estimate spreads mass evenly inside cells of the first grid, where it clusters: near that grid finer cells
# pay off earlier than they seem to, farther below nobody knows where.
WORTH_SPLITTING_AGAIN: Final = (4.0, 3.0, 2.0, 4.0)
FINEST_FIRST: Final = 7  # level; 16,384 cells
MOST_CELLS: Final = 2**14  # of the second cut


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Round:
    """The cells of one cut, all of them, with noise; already private."""

    cut: Cut
    noisy: NDArray[np.int64] = field(repr=False)  # (k,) mass units
    epsilon: Fraction  # what this round costs


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(GuessedPersons):
    """All cells of a plain grid are measured, then all cells of a cut that is fine where mass was found.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. A cut's cells are
    disjoint, so however a person's mass is spread, its vector of true masses changes by at most 1 in L1
    (ADD_REMOVE) or 2 (REPLACE), and discrete Laplace noise of scale sensitivity / epsilon_j in *every*
    cell, empty ones too, makes round j cost epsilon_j (Dwork, McSherry, Nissim, Smith 2006, in integers).
    The first cut follows from public numbers. The second is a function of the first round's noisy values:
    given these it is fixed, and the bound above holds for each fixed cut, so the pair costs
    epsilon_1 + epsilon_2 = epsilon (adaptive composition: Dwork, Roth 2014, Theorem 3.16 and §3.5.1). The
    posterior sees noisy values alone. `epsilon_over` adds up what was spent over any finest cell.
    Edge cases: few persons or little epsilon measure the whole region as one cell, twice. The first grid
    has at most 4^7 cells and the second cut at most 2^14, however fine the resolution: time and memory
    follow these. `expected_persons` steers utility only. All 0 makes a uniform dense map.
    Error: `expected_error` is a forecast, not a bound; intervals of regions hold posterior quantiles and what
    was measured there (`leaf_beliefs`), `standard_errors` as wide as these. Sums of regions: `deviations`.
    Regions told apart from empty ones: by the posterior, null "less than half a person".
    References: message passing: Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988; adaptive
    grids: Qardaji, Yang, Li, ICDE 2013; consistent trees: Hay, Rastogi, Miklau, Suciu, VLDB 2010.
    """

    name: ClassVar[str] = "adaptive"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=sum(self.round_epsilons, Fraction(0)))

    @property
    def unit(self) -> int:
        """Mass units of one person."""
        return mass_unit(self.relation, self.epsilon, smallest_share=min(ROUND_SHARES))

    @property
    def round_epsilons(self) -> tuple[Fraction, ...]:
        """Costs of the rounds; their sum is epsilon exactly."""
        return tuple(self.epsilon * share for share in ROUND_SHARES)

    @property
    def round_scales(self) -> tuple[Fraction, ...]:
        """Of the noise of each round, in mass units."""
        unit = self.unit
        return tuple(noise_scale(self.relation, epsilon, unit) for epsilon in self.round_epsilons)

    @property
    def first_level(self) -> int:
        """Of the first round's grid: as fine as the expected persons make worth it."""
        scales = self.expected_persons * self.unit / self.round_scales[0]
        few, level_of_few = WORTH_A_FEW
        return max(
            grid_level(float(scales), most=few, finest=min(level_of_few, self.level)),
            grid_level(float(scales), most=WORTH_SPLITTING, finest=min(FINEST_FIRST, self.level)),
        )

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[Round, Round]:
        """The private part of `release`: everything after it sees nothing else."""
        check_masses(masses, level=self.level, unit=self.unit)
        first = self._round(0, Cut.grid(self.first_level), masses, rng)
        return first, self._round(1, self.second_cut(first), masses, rng)

    def second_cut(self, first: Round) -> Cut:
        """What the second round measures, from public numbers and the first round's noisy values."""
        found = self._posterior([first])
        coarser, *near, finer = WORTH_SPLITTING_AGAIN
        most = [coarser] * self.first_level + near + [finer] * self.level
        return refined(found.cut, found.mean, most=np.array(most[: self.level]), limit=MOST_CELLS)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        found = self._posterior(self.measure(masses, rng))
        return posterior_map(found, level=self.level, scale_persons=self._scale_persons)

    def expected_error(self, *, persons: int) -> ErrorForecast:
        return adaptive_forecast(self._scale_persons, persons=persons)

    def _round(self, number: int, cut: Cut, masses: MassMap, rng: RandomSource) -> Round:
        noise = discrete_laplace(rng, scale=self.round_scales[number], size=cut.levels.size)
        return Round(cut=cut, noisy=cut.masses(masses) + noise, epsilon=self.round_epsilons[number])

    def _posterior(self, rounds: Sequence[Round]) -> Posterior:
        scale = float(self.round_scales[0])
        measured = [Measured(cut=part.cut, noisy=part.noisy / scale) for part in rounds]
        return posterior_both_ways(measured, scale_persons=self._scale_persons)

    @property
    def _scale_persons(self) -> float:
        return float(self.round_scales[0] / self.unit)


def epsilon_over(rounds: Sequence[Round], *, level: int, cells: NDArray[np.int64]) -> list[Fraction]:
    """What was spent over each of these cells of `level`: the sum over all measured cells that hold it."""
    spent = [Fraction(0)] * cells.size
    for part in rounds:
        first = part.cut.starts(level)
        after = first + (np.int64(1) << 2 * (level - part.cut.levels))
        for place, cell in enumerate(cells.tolist()):
            spent[place] += part.epsilon * int(((first <= cell) & (cell < after)).sum())
    return spent
