"""A baseline for `adaptive`: all of epsilon on one plain grid, with the same inference."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from mechanisms.calibration import mass_unit, noise_scale
from mechanisms.central.binary_tree import Measured
from mechanisms.central.guessed_persons import checked_persons
from mechanisms.central.quadtree_cut import Cut, grid_level
from mechanisms.central.tree_posterior import posterior_both_ways
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.interface import Heatmap, MassMap, RandomSource, Target
from mechanisms.prediction import ErrorBound, noise_in_every_cell
from mechanisms.samplers.discrete_laplace import discrete_laplace

_FINEST = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainGrid:
    """As fine as leaves less than `most` noise scales of the expected persons in a cell.

    Not in the catalogue: it serves comparisons only, and those are under ADD_REMOVE.
    """

    name: ClassVar[str] = "plain-grid"
    relation: ClassVar[Relation] = Relation.ADD_REMOVE
    epsilon: Fraction
    resolution: int  # cells a side
    expected_persons: int
    most: float

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        persons = checked_persons(target.expected_persons)
        return cls(epsilon=target.epsilon, resolution=resolution, expected_persons=persons, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.epsilon)

    @property
    def unit(self) -> int:
        return mass_unit(self.relation, self.epsilon, smallest_share=Fraction(1))

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        scale = noise_scale(self.relation, self.epsilon, self.unit)
        persons = float(scale / self.unit)
        finest = min(_FINEST, masses.level)
        cut = Cut.grid(grid_level(self.expected_persons / persons, most=self.most, finest=finest))
        noisy = cut.masses(masses) + discrete_laplace(rng, scale=scale, size=cut.levels.size)
        found = posterior_both_ways([Measured(cut=cut, noisy=noisy / float(scale))], scale_persons=persons)
        return Heatmap(
            level=masses.level,
            levels=found.cut.levels.astype(np.uint8),
            prefixes=found.cut.prefixes,
            values=found.mean * persons,
            standard_errors=found.deviation * persons,
        )

    def expected_error(self, *, persons: int) -> ErrorBound:
        return noise_in_every_cell(float(1 / self.epsilon), cells=4**_FINEST, persons=persons)
