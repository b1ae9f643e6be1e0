"""Walks with tokens once: a single measurement of a cut of the quadtree that costs nothing to choose."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from mechanisms.calibration import check_masses
from mechanisms.central.adaptive.informed import Informed
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.central.adaptive.rounds import NoisyRound, SquareRounds
from mechanisms.central.adaptive.token_walk import SquareFrontier, Worth, token_walk
from mechanisms.error_bounds import walked_forecast
from mechanisms.expected_error import ErrorForecast
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap

# Chosen on places of the even half, by the earth mover's distance.
TOKENS: Final = 4**5  # of a first cell
WORTH: Final = 7.0  # noise scales
GROWTH: Final = 0.6
FIRST_SCALES: Final = 16.0  # of expected mass in a first cell
FINEST_FIRST: Final = 2  # level


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWalk(SquareRounds):
    """Measures the leaves of a walk, each with the noise of the whole epsilon.

    Guarantee: `token_walk`, which proves it. At most 16 · 1,024 draws and leaves, however fine the
    resolution.
    """

    round_shares: ClassVar = (Fraction(1),)
    is_raised: ClassVar = True

    @property
    def first_level(self) -> int:
        """Returns the level of the cells that the walk begins with."""
        scales = max(float(self.expected_persons / self.scale_persons), 1.0)
        return min(max(round(math.log(scales / FIRST_SCALES, 4)), 1), FINEST_FIRST, self.level)

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[NoisyRound]:
        check_masses(masses, level=self.level, unit=self.unit)
        scale = self.round_scales[0]
        worth = Worth(scales=WORTH, growth=GROWTH, branches=4, scale=scale)
        leaves, noisy = token_walk(
            SquareFrontier.first(masses, level=self.first_level),
            each=TOKENS,
            scale=scale,
            branches=4,
            rule=Informed.of(worth, self.before),
            rng=rng,
        )
        nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
        return (NoisyRound(cells=Cut.of_nodes(nodes), noisy=noisy[order], epsilon=self.round_epsilons[0]),)

    def expected_error(self, *, persons: int) -> ErrorForecast:
        return walked_forecast(self.joint_scale_persons, persons=persons)
