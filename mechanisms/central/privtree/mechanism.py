"""Grows a quadtree where noisy masses are large, at a cost that does not grow with depth (PrivTree)."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import check_masses, mass_unit, noise_scale
from mechanisms.central.adaptive.binary_tree import Measured
from mechanisms.central.adaptive.posterior_map import significant_by_posterior
from mechanisms.central.adaptive.quadtree_cut import Cut, cell_masses
from mechanisms.central.adaptive.tree_posterior import posterior_both_ways
from mechanisms.central.grid_laplace.empty_cells import significance_floor, step_up, tail
from mechanisms.central.grid_laplace.noisy_cells import standard_deviation
from mechanisms.check import exact_decimal
from mechanisms.error_bounds import noise_in_every_cell
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import GridMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import children

DEFAULT_TREE_PERCENT: Final = Fraction(30)  # of epsilon; chosen on places of the even half
_FANOUT: Final = 4
_GROWTH_COST: Final = Fraction(2 * _FANOUT - 1, _FANOUT - 1)  # (2β - 1) / (β - 1)
_LOG_FANOUT: Final = Fraction(13863, 10000)  # ln 4, rounded up
_MOST_BELIEFS: Final = 2**14  # leaves; a posterior of more takes long, and tests need none
_LEAVES_LIMIT: Final = 2**20  # beyond, noise alone has split cells a million times: never seen

_ASSUMPTIONS: Final = (
    "Holds when the number of people is right, for the noise as if every cell were measured; what is lost "
    "inside cells that were not split is left out."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivTree(GridMechanism):
    """Splits cells while a noisy, depth-biased mass is above 0, then measures the leaves.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0. The tree costs epsilon_t, the leaves the rest: they are
    disjoint and their masses change by at most 1 in L1 (ADD_REMOVE) or 2 (REPLACE).
    Proof for the tree with fractional masses (Zhang et al. count whole points; here a person's mass may be
    spread over cells). Let t be the scale of the noise in mass units for one person, β = 4, and let a cell
    v of depth d with mass c(v) be split when b(v) + X > 0, with b(v) = max(c(v) - d·δ, -δ), X discrete
    Laplace and δ ≥ t·ln β. Change the masses by one unit in one finest cell at a time, at most `unit` times.
    A unit changes c, and b by at most 1, only on one path from the root. With a = exp(-1/t), raising b from
    x - 1 to x raises log P(split) by exactly 1/t for x ≤ 1, and for x = j ≥ 2 by at most
    a^(j-1)·(1 - a) / (1 + a - a^(j-1)) ≤ a^(j-1)/t. Along a path c falls, so values of b above the floor
    -δ fall by at least δ a level: at most one lies in (-δ, 0], the others at 1, 1 + δ, 1 + 2δ, … or above,
    and a value on the floor does not change. The sum is at most (1 + Σ_k a^(kδ))/t ≤
    (1 + β/(β - 1))/t = (2β - 1)/((β - 1)·t). Going the other way costs at most 1/t for the one leaf on the
    path (log P(no split) falls by at most 1/t) against gains only, so the same bound holds both ways. With
    t = unit · (2β - 1)/((β - 1)·epsilon_t), `unit` steps cost at most epsilon_t; REPLACE doubles t.
    Edge cases: a finest cell is not split. Negative masses are cut to 0; all 0 makes a uniform dense map.
    Error: `expected_error`; `standard_errors` are those of a leaf's noise. Intervals hold 95 % of it and of a
    posterior (`leaf_beliefs`), which tells leaves apart from those with less than half a person.
    References: Zhang, Xiao, Xie, "PrivTree", SIGMOD 2016, Algorithm 2, Theorem 3.1.
    """

    name: ClassVar[str] = "privtree"
    highest_resolution: ClassVar[int] = 2**16
    tree_percent: Fraction = DEFAULT_TREE_PERCENT  # of epsilon, spent on the shape of the tree

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        percent = exact_decimal("tree_percent", self.tree_percent, low=1, high=99)
        object.__setattr__(self, "tree_percent", percent)
        self.unit  # noqa: B018 - an epsilon that integers cannot carry is refused here

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.tree_epsilon + self.leaf_epsilon)

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        share = self.tree_percent / 100
        return mass_unit(self.relation, self.epsilon, smallest_share=min(share / _GROWTH_COST, 1 - share))

    @property
    def tree_epsilon(self) -> Fraction:
        return self.epsilon * self.tree_percent / 100

    @property
    def leaf_epsilon(self) -> Fraction:
        return self.epsilon - self.tree_epsilon

    @property
    def tree_scale(self) -> Fraction:
        """Returns the scale of the noise that decides on splits, in mass units."""
        return noise_scale(self.relation, self.tree_epsilon / _GROWTH_COST, self.unit)

    @property
    def leaf_scale(self) -> Fraction:
        """Returns the scale of the noise in the leaves, in mass units."""
        return noise_scale(self.relation, self.leaf_epsilon, self.unit)

    @property
    def bias(self) -> int:
        """Returns δ: what a level costs in mass units, t·ln β rounded up."""
        return -int(-self.tree_scale * _LOG_FANOUT // 1)

    def tree(self, masses: MassMap, rng: RandomSource) -> Cut:
        """Returns the leaves of a noisy tree: the first half of `measure`."""
        cells, levels, prefixes = np.zeros(1, np.int64), [], []
        for level in range(self.level + 1):
            split = np.zeros(cells.size, np.bool_)
            if level < self.level and cells.size < _LEAVES_LIMIT:
                biased = cell_masses(masses, np.full(cells.size, level, np.int64), cells) - level * self.bias
                noise = discrete_laplace(rng, scale=self.tree_scale, size=cells.size)
                split = np.maximum(biased, -self.bias) + noise > 0
            prefixes.append(cells[~split])
            levels.append(np.full(prefixes[-1].size, level, np.int64))
            cells = children(cells[split])
        return Cut.sorted(np.concatenate(levels), np.concatenate(prefixes))

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[Cut, NDArray[np.int64]]:
        """Draws the private part of `release`: the leaves and their noisy masses `(k,)`, in mass units."""
        check_masses(masses, level=self.level, unit=self.unit)
        cut = self.tree(masses, rng)
        return cut, cut.masses(masses) + discrete_laplace(rng, scale=self.leaf_scale, size=cut.levels.size)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        cut, noisy = self.measure(masses, rng)
        heatmap = Heatmap(
            level=self.level,
            levels=cut.levels.astype(np.uint8),
            prefixes=cut.prefixes,
            values=np.maximum(noisy, 0) / self.unit,
            standard_errors=np.full(noisy.size, self.error_persons),
            total=float(noisy.sum()) / self.unit,
            total_error=self.error_persons * np.sqrt(noisy.size),
        )
        return self._with_errors(heatmap, cut, noisy)

    @property
    def error_persons(self) -> float:
        """Returns the standard deviation of a leaf's noise, in people."""
        return standard_deviation(self.leaf_scale) / self.unit

    def _with_errors(self, heatmap: Heatmap, cut: Cut, noisy: NDArray[np.int64]) -> Heatmap:
        """Returns intervals, and what is told apart from empty leaves,
        by a posterior or for many leaves by tests.
        """
        if noisy.size > _MOST_BELIEFS:
            is_significant = step_up(tail(noisy, scale=self.leaf_scale, terms=1), of=noisy.size)
            floor = significance_floor(int(is_significant.sum()), of=noisy.size, scale=self.leaf_scale)
            significant = SignificantSquares.with_parents(
                cut.levels[is_significant], cut.prefixes[is_significant]
            )
            return replace(heatmap, significant=significant, significance_floor=floor / self.unit)
        scale, persons = float(self.leaf_scale), float(self.leaf_scale / self.unit)
        measured = [Measured(nodes=cut.nodes, noisy=noisy / scale)]
        spread = posterior_both_ways(measured, scale_persons=persons).spread
        return replace(
            heatmap,
            significant=significant_by_posterior(cut, spread),
            lows=np.minimum(spread.low * persons, heatmap.values),
            highs=np.maximum(spread.high * persons, heatmap.values),
        )

    def expected_error(self, *, persons: int) -> ErrorBound:
        scale_persons = float((self.leaf_scale + 1) / self.unit)  # |noise| ≤ exponential + 1 unit
        bound = noise_in_every_cell(scale_persons, cells=4**self.level, persons=persons)
        return replace(bound, assumptions=_ASSUMPTIONS)
