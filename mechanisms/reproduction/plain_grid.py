"""Spends all of epsilon on one plain grid, with the same inference: a baseline for `adaptive`."""

from dataclasses import dataclass
from typing import ClassVar

from mechanisms.calibration import noise_scale
from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.posterior_map import posterior_map
from mechanisms.central.adaptive.quadtree_cut import Cut, grid_level
from mechanisms.central.adaptive.tree_posterior import posterior_both_ways
from mechanisms.central.expected_persons import GuessedPersons
from mechanisms.error_bounds import noise_in_every_cell
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.discrete_laplace import discrete_laplace

_FINEST = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainGrid(GuessedPersons):
    """Measures a grid as fine as leaves less than `most` noise scales of the expected persons in a cell.

    Not in the catalogue: it serves comparisons only, and those are under ADD_REMOVE.
    """

    name: ClassVar[str] = "plain-grid"
    most: float

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.epsilon)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        scale = noise_scale(self.relation, self.epsilon, self.unit)
        persons = float(scale / self.unit)
        finest = min(_FINEST, masses.level)
        cut = Cut.grid(grid_level(self.expected_persons / persons, most=self.most, finest=finest))
        noisy = cut.masses(masses) + discrete_laplace(rng, scale=scale, size=cut.levels.size)
        beliefs = posterior_both_ways(
            [Measured(nodes=cut.nodes, noisy=noisy / float(scale))], scale_persons=persons
        )
        return posterior_map(beliefs, level=masses.level, scale_persons=persons)

    def expected_error(self, *, persons: int) -> ErrorBound:
        return noise_in_every_cell(float(1 / self.epsilon), cells=4**_FINEST, persons=persons)
