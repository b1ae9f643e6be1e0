"""Measures noisy masses over disjoint cells in rounds, and what later maps of the same data keep of them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import mass_unit, noise_scale
from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.posterior_map import posterior_map
from mechanisms.central.adaptive.tree_posterior import Posterior, posterior_both_ways
from mechanisms.central.expected_persons import GuessedPersons
from mechanisms.expected_error import ErrorForecast
from mechanisms.guarantee import Guarantee
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurement, Measurements

Integers: TypeAlias = NDArray[np.int64]


class Cells(Protocol):
    """Holds disjoint cells that together are the region: leaves of a binary tree, in order."""

    @property
    def nodes(self) -> Nodes: ...

    def masses(self, masses: MassMap) -> Integers:
        """Returns (k,) true mass units."""
        ...

    def holding(self, cells: Integers, *, level: int) -> Integers:
        """Returns which of them hold these quadtree cells of a level at least as fine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyRound:
    """Cells, all of them, with noise; already private."""

    cells: Cells
    noisy: Integers = field(repr=False)  # (k,) mass units
    epsilon: Fraction  # what this round costs


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRounds(GuessedPersons):
    """Measures all cells of one partition or of several, each for its share of epsilon."""

    round_shares: ClassVar[tuple[Fraction, ...]]
    earlier: Measurements | None = None  # of the same masses, public already

    @abstractmethod
    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[NoisyRound, ...]:
        """Draws the private part of `release`: everything after it sees nothing else.

        Errors: `ParameterError` for masses of another level or unit.
        """

    @abstractmethod
    def heatmap(self, rounds: Sequence[NoisyRound]) -> Heatmap:
        """Returns the map that follows from these rounds."""

    @abstractmethod
    def expected_error(self, *, persons: int) -> ErrorForecast: ...

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=sum(self.round_epsilons, Fraction(0)))

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return mass_unit(self.relation, self.epsilon, smallest_share=min(self.round_shares))

    @property
    def round_epsilons(self) -> tuple[Fraction, ...]:
        """Returns costs of the rounds; their sum is epsilon exactly."""
        return tuple(self.epsilon * share for share in self.round_shares)

    @property
    def round_scales(self) -> tuple[Fraction, ...]:
        """Returns the scale of the noise of each round, in mass units."""
        unit = self.unit
        return tuple(noise_scale(self.relation, epsilon, unit) for epsilon in self.round_epsilons)

    @property
    def scale_persons(self) -> float:
        """Returns the first round's noise scale, in persons."""
        return float(self.round_scales[0] / self.unit)

    @property
    def yardstick_persons(self) -> float:
        """Returns the least noise's scale, in which beliefs are reckoned."""
        return min([self.scale_persons, *(part.scale_persons for part in self._earlier_parts)])

    @property
    def joint_scale_persons(self) -> float:
        """Returns the scale of noise that says as much as the first round
        and all that was measured before.
        """
        scales = [self.scale_persons, *(part.scale_persons for part in self._earlier_parts)]
        return float(sum(scale**-2 for scale in scales) ** -0.5)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        return self.heatmap(self.measure(masses, rng))

    @property
    def before(self) -> list[Measured]:
        """Returns earlier measurements, in noise scales of the first round."""
        return self._before(self.scale_persons)

    def measured(self, rounds: Sequence[NoisyRound]) -> list[Measured]:
        """Returns earlier measurements and these rounds, in yardsticks."""
        yardstick = self.yardstick_persons
        own = [
            Measured(
                nodes=part.cells.nodes,
                noisy=part.noisy / (yardstick * self.unit),
                scale=float(scale / self.unit) / yardstick,
            )
            for part, scale in zip(rounds, self.round_scales, strict=False)
        ]
        return [*self._before(yardstick), *own]

    def stored_measurements(self, rounds: Sequence[NoisyRound]) -> tuple[Measurement, ...]:
        """Returns all measurements, for later maps of the same masses."""
        own = [
            Measurement(
                scale_persons=float(scale / self.unit),
                depths=part.cells.nodes.depths.astype(np.uint8),
                codes=part.cells.nodes.codes,
                noisy=part.noisy / self.unit,
            )
            for part, scale in zip(rounds, self.round_scales, strict=True)
        ]
        return (*self._earlier_parts, *own)

    def _before(self, yardstick: float) -> list[Measured]:
        return [
            Measured(
                nodes=Nodes(depths=part.depths.astype(np.int64), codes=part.codes),
                noisy=part.noisy / yardstick,
                scale=part.scale_persons / yardstick,
            )
            for part in self._earlier_parts
        ]

    @property
    def _earlier_parts(self) -> tuple[Measurement, ...]:
        return () if self.earlier is None else self.earlier.parts


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareRounds(NoisyRounds):
    """Measures over cuts of the quadtree."""

    is_raised: ClassVar[bool]  # as in `tree_posterior.posterior`

    def heatmap(self, rounds: Sequence[NoisyRound]) -> Heatmap:
        return posterior_map(
            self.posterior(rounds),
            level=self.level,
            scale_persons=self.yardstick_persons,
            measurements=Measurements(parts=self.stored_measurements(rounds)),
        )

    def posterior(self, rounds: Sequence[NoisyRound]) -> Posterior:
        """Returns the posterior of the leaves of these rounds, in yardsticks."""
        return posterior_both_ways(
            self.measured(rounds), scale_persons=self.yardstick_persons, is_raised=self.is_raised
        )


def epsilon_over(rounds: Sequence[NoisyRound], *, level: int, cells: Integers) -> list[Fraction]:
    """Returns the ε spent over each of these cells of `level`.

    It is the sum over all measured squares that hold it.
    """
    spent = [Fraction(0)] * cells.size
    for part in rounds:
        nodes = part.cells.nodes
        first = nodes.starts(2 * level)
        after = first + (np.int64(1) << 2 * level - nodes.depths)
        for place, cell in enumerate(cells.tolist()):
            spent[place] += part.epsilon * int(((first <= cell) & (cell < after)).sum())
    return spent
