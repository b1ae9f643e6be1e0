"""Releases maps fine where people are, by one walk with tokens or two rounds, as public numbers say."""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from mechanisms.calibration import sensitivity
from mechanisms.central.adaptive.guide_tree import grid_level
from mechanisms.central.adaptive.guided_walk import GuidedWalk
from mechanisms.central.adaptive.one_walk import OneWalk
from mechanisms.central.adaptive.rounds import NoisyRound, NoisyRounds
from mechanisms.central.adaptive.two_rounds import TwoRounds
from mechanisms.central.expected_persons import GuessedPersons
from mechanisms.check import ParameterError, in_range
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.guide import Guide
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements

# Expected persons in noise scales of the whole epsilon: n·epsilon, and half of it under REPLACE.
MOST_WALKED: Final = 1000  # two rounds are more accurate above
GUIDED: Final = (100, 1000)  # a guide of another city does harm below, and no good above
_PUBLIC: Final = tuple(field.name for field in fields(GuessedPersons))


def takes_guide(relation: Relation, epsilon: Fraction, expected_persons: int) -> bool:
    """Returns whether a guide may be given with these public numbers."""
    least, most = GUIDED
    return least <= expected_persons * epsilon / sensitivity(relation) <= most


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(GuessedPersons):
    """Measures all cells of a cut of the quadtree, fine where people are, and makes one posterior map.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. A cut's cells are
    disjoint, so however a person's mass is spread, its vector of true masses changes by at most 1 in L1
    (ADD_REMOVE) or 2 (REPLACE), and discrete Laplace noise of scale sensitivity / epsilon_j in *every*
    cell, empty ones too, makes round j cost epsilon_j (Dwork, McSherry, Nissim, Smith 2006, in integers).
    How the cut is found costs nothing in one walk (`token_walk`) and half in two rounds (`TwoRounds`); which
    of them it is follows from public numbers. The posterior sees noisy values alone. `epsilon_over` adds up
    what was spent over any finest cell.
    Edge cases: `expected_persons` and `guide` steer utility only. All 0 makes a uniform dense map. Time and
    memory follow the cells measured, at most 2^14 a round, however fine the resolution. Version 1 always took
    two rounds.
    Error: `expected_error` is a forecast, not a bound; intervals of regions hold posterior quantiles and what
    was measured there (`leaf_beliefs`), `standard_errors` as wide as these. Sums of regions: `deviations`.
    Regions told apart from empty ones: by the posterior, null "less than half a person". With a guide of
    other masses rectangles are measured (`is_in_rectangles`): their squares are told apart together, may hold
    nothing or all that they do, and sums of them have no stated error.
    References: message passing: Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988; adaptive
    grids: Qardaji, Yang, Li, ICDE 2013; consistent trees: Hay, Rastogi, Miklau, Suciu, VLDB 2010.
    """

    name: ClassVar[str] = "adaptive"
    newest_version: ClassVar[int] = 2
    guide: Guide | None = None
    version: int = newest_version

    def __post_init__(self) -> None:
        GuessedPersons.__post_init__(self)
        in_range(1, self.newest_version, version=self.version)
        if self.guide is not None and self.version == 1:
            raise ParameterError("guide", "a map", "none: this version begins from no map")
        if self.guide is not None and not takes_guide(self.relation, self.epsilon, self.expected_persons):
            least, most = (sensitivity(self.relation) * end for end in GUIDED)
            allowed = f"none: it helps where people times epsilon are {least} to {most}"
            raise ParameterError("guide", "a map", allowed)

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        """Returns the mechanism with the target's guide and version."""
        version = cls.newest_version if target.version is None else target.version
        return super(Adaptive, cls).calibrate(
            target, resolution=resolution, guide=target.guide, version=version, **parameters
        )

    @property
    def rounds(self) -> NoisyRounds:
        """Returns the rounds: one walk or two rounds, with the same public numbers."""
        scales = self.expected_persons * self.epsilon / sensitivity(self.relation)
        kind = OneWalk if self.version > 1 and scales <= MOST_WALKED else TwoRounds
        public = {name: getattr(self, name) for name in _PUBLIC}
        if self.guide is None:
            return kind(**public)
        earlier = self._earlier(self.guide)
        if earlier is None:
            return GuidedWalk(**public, guide=self.guide)
        if earlier.shares is None:
            return OneWalk(**public, earlier=earlier)
        return GuidedWalk(**public, guide=Guide(shares=earlier.shares), earlier=earlier)

    @property
    def is_in_rectangles(self) -> bool:
        """Returns whether rectangles of a guide are measured,
        so that sums of squares have no stated error.
        """
        return isinstance(self.rounds, GuidedWalk)

    def _earlier(self, guide: Guide) -> Measurements | None:
        """Returns the measurements of the guide's map, where its cells are no finer than this map's."""
        measured = guide.measured
        if measured is None:
            return None
        if measured.shares is None:
            return measured if measured.deepest <= 2 * self.level else None
        return measured if measured.grid_level == grid_level(self.level) else None

    @property
    def guarantee(self) -> Guarantee:
        return self.rounds.guarantee

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return self.rounds.unit

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[NoisyRound, ...]:
        """Draws the private part of `release`: everything after it sees nothing else."""
        return self.rounds.measure(masses, rng)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        return self.rounds.release(masses, rng)

    def expected_error(self, *, persons: int) -> ErrorForecast:
        return self.rounds.expected_error(persons=persons)
