"""Walks with tokens down the tree of a guide once; its rectangles are expected to hold the same each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, cast

from mechanisms.calibration import check_masses
from mechanisms.central.adaptive.boxes import Boxes, Rectangles
from mechanisms.central.adaptive.guide_tree import GuideTree, grid_level
from mechanisms.central.adaptive.guided_raster import guided_map
from mechanisms.central.adaptive.informed import Informed
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.rounds import NoisyRound, NoisyRounds
from mechanisms.central.adaptive.token_walk import Worth, token_walk
from mechanisms.central.adaptive.tree_posterior import posterior
from mechanisms.error_bounds import guided_forecast
from mechanisms.expected_error import ErrorForecast
from mechanisms.guide import Guide
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements

# Chosen on places of the even half, by the earth mover's distance.
TOKENS: Final = 2**8  # of a first rectangle
WORTH: Final = 6.5  # noise scales
GROWTH: Final = 0.65
FIRST_SCALES: Final = 7.0  # of expected mass in a first rectangle
DEEPEST_FIRST: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidedWalk(NoisyRounds):
    """Measures the leaves of a walk down a guide's tree, each with the noise of the whole epsilon.

    Guarantee: `token_walk`, which proves it for any tree that follows from public facts and revealed values.
    """

    round_shares: ClassVar = (Fraction(1),)
    guide: Guide

    @property
    def first_depth(self) -> int:
        """Returns the depth of the rectangles that the walk begins with."""
        scales = max(float(self.expected_persons / self.scale_persons), 1.0)
        return min(max(round(math.log2(scales / FIRST_SCALES)), 1), DEEPEST_FIRST)

    @property
    def tree(self) -> GuideTree:
        """Returns the tree that public facts make; what was measured before in a plain tree goes on there."""
        plain_from = None if self.earlier is None else self.earlier.plain_from
        return GuideTree.of(self.guide, level=self.level, plain_from=plain_from)

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[NoisyRound]:
        check_masses(masses, level=self.level, unit=self.unit)
        scale, first = self.round_scales[0], self.first_depth
        worth = Worth(scales=WORTH, growth=GROWTH, branches=2, scale=scale)
        leaves, noisy = token_walk(
            Boxes.first(masses, self.tree, depth=first, is_doubted=self.earlier is None),
            each=TOKENS,
            scale=scale,
            branches=2,
            rule=Informed.of(worth, self.before),
            rng=rng,
        )
        nodes, order = Nodes.sorted(leaves.nodes.depths, leaves.nodes.codes)
        cells = Rectangles(tree=leaves.tree, nodes=nodes)
        return (NoisyRound(cells=cells, noisy=noisy[order], epsilon=self.round_epsilons[0]),)

    def heatmap(self, rounds: Sequence[NoisyRound]) -> Heatmap:
        tree, yardstick = cast(Rectangles, rounds[0].cells).tree, self.yardstick_persons
        beliefs = posterior(self.measured(rounds), scale_persons=yardstick, is_raised=True)
        measurements = Measurements(
            parts=self.stored_measurements(rounds),
            grid_level=grid_level(self.level),
            shares=self.guide.shares,
            plain_from=tree.plain_from,
        )
        return guided_map(beliefs, tree, level=self.level, scale_persons=yardstick, measurements=measurements)

    def expected_error(self, *, persons: int) -> ErrorForecast:
        return guided_forecast(self.joint_scale_persons, persons=persons)
