"""Measures in two rounds: a plain grid, then a cut that is fine where the first round found mass."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from mechanisms.calibration import check_masses
from mechanisms.central.adaptive.quadtree_cut import Cut, grid_level, refined
from mechanisms.central.adaptive.rounds import NoisyRound, SquareRounds
from mechanisms.error_bounds import adaptive_forecast
from mechanisms.expected_error import ErrorForecast
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoRounds(SquareRounds):
    """Measures all cells of a plain grid, then all cells of a cut that is fine where mass was found.

    Guarantee: the first cut follows from public numbers. The second is a function of the first round's noisy
    values: given these it is fixed, and the bound of one measured cut holds for each fixed cut, so the pair
    costs epsilon_1 + epsilon_2 = epsilon (adaptive composition: Dwork, Roth 2014, Theorem 3.16 and §3.5.1).
    Edge cases: few persons or little epsilon measure the whole region as one cell, twice. The first grid
    has at most 4^7 cells and the second cut at most 2^14, however fine the resolution.
    """

    round_shares: ClassVar = (Fraction(1, 2), Fraction(1, 2))
    is_raised: ClassVar = False

    @property
    def first_level(self) -> int:
        """Returns the level of the first round's grid: as fine as the expected persons make worth it."""
        scales = self.expected_persons * self.unit / self.round_scales[0]
        few, level_of_few = WORTH_A_FEW
        return max(
            grid_level(float(scales), most=few, finest=min(level_of_few, self.level)),
            grid_level(float(scales), most=WORTH_SPLITTING, finest=min(FINEST_FIRST, self.level)),
        )

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[NoisyRound, NoisyRound]:
        check_masses(masses, level=self.level, unit=self.unit)
        first = self._round(0, Cut.grid(self.first_level), masses, rng)
        return first, self._round(1, self.second_cut(first), masses, rng)

    def second_cut(self, first: NoisyRound) -> Cut:
        """Returns the second round's cut, from public numbers and the first round's noisy values."""
        beliefs = self.posterior([first])
        coarser, *near, finer = WORTH_SPLITTING_AGAIN
        most = [coarser] * self.first_level + near + [finer] * self.level
        return refined(beliefs.cut, beliefs.mean, most=np.array(most[: self.level]), limit=MOST_CELLS)

    def expected_error(self, *, persons: int) -> ErrorForecast:
        return adaptive_forecast(self.scale_persons, persons=persons)

    def _round(self, number: int, cut: Cut, masses: MassMap, rng: RandomSource) -> NoisyRound:
        noise = discrete_laplace(rng, scale=self.round_scales[number], size=cut.levels.size)
        return NoisyRound(cells=cut, noisy=cut.masses(masses) + noise, epsilon=self.round_epsilons[number])
