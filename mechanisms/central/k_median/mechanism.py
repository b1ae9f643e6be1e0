"""Finds centres that people are near to, and their areas: k-median on the sparse reconstruction."""

from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.k_median.solver import k_medians
from mechanisms.central.sparse_emd.measurement import MeasuredLevel
from mechanisms.central.sparse_emd.mechanism import DEFAULT_WIDTH, SparseEmd
from mechanisms.check import ParameterError
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import GridMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.areas import Areas
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import morton_decode, morton_encode
from mechanisms.space.l1_distance import nearest

DEFAULT_CENTRES: Final = 8
MOST_CENTRES: Final = 100
_CELLS_A_CENTRE: Final = 4  # kept on every level of the coreset, for each centre

_QUANTITY: Final = (
    "Upper bound on how far the average distance of people to the nearest of any centres may be from what "
    "the released map says it is, with L1 distance on the unit square, where 2 is the largest possible value."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KMedian(GridMechanism):
    """Releases a sparse map in private, then seeks `centres` centres on it and gives them their areas.

    Guarantee: that of the sparse map (`SparseEmd`), `Guarantee.flat(epsilon)`, delta 0, between neighbours of
    `relation`; the search sees nothing else. Ghazi et al. 2022, Corollaries A.1 and A.2.
    Edge cases: fewer centres where the map has mass in fewer places, none where it has none. Mass of a region
    that was not refined stands in its middle. Of equally near centres the first has the area.
    Error: `expected_error` is of the average distance to any centres at all, of which the search takes good
    ones; a person's distance is that of the map, L1 on the unit square. No standard errors.
    References: Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "Differentially Private
    Heatmaps", 2022, Appendix A; local search: `k_medians`.
    """

    name: ClassVar[str] = "k-median"
    highest_resolution: ClassVar[int] = 1024  # areas are painted cell by cell
    centres: int = DEFAULT_CENTRES  # k

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        whole = isinstance(self.centres, int) and not isinstance(self.centres, bool)
        if not whole or not 1 <= self.centres <= MOST_CENTRES:
            raise ParameterError("centres", self.centres, f"a whole number from 1 to {MOST_CENTRES}")
        self.coreset  # noqa: B018 - an epsilon that integers cannot carry is refused here

    @property
    def coreset(self) -> SparseEmd:
        """Returns the mechanism whose map, not normalised, is a coreset:
        Corollary A.1, with w in proportion to k.
        """
        return SparseEmd(
            relation=self.relation,
            epsilon=self.epsilon,
            resolution=self.resolution,
            width=max(DEFAULT_WIDTH, _CELLS_A_CENTRE * self.centres),
        )

    @property
    def guarantee(self) -> Guarantee:
        return self.coreset.guarantee

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return self.coreset.unit

    def measure(self, masses: MassMap, rng: RandomSource) -> tuple[MeasuredLevel, ...]:
        """Draws the private part of `release`."""
        return self.coreset.measure(masses, rng)

    def release(self, masses: MassMap, rng: RandomSource) -> Areas:
        return areas_of(self.coreset.release(masses, rng), self.centres)

    def expected_error(self, *, persons: int) -> ErrorBound:
        """Returns the coreset's bound: |cost_C(X)
        − cost_C(x)| ≤ ‖s − ŝ‖_EMD for all C at once (proof of Corollary A.1).
        """
        return replace(self.coreset.expected_error(persons=persons), quantity=_QUANTITY)


def areas_of(coreset: Heatmap, count: int) -> Areas:
    """Returns at most `count` centres of a map, and its mass by nearest centre. Post-processing."""
    points, weights = weighted_points(coreset)
    centres = np.unique(k_medians(points, weights, count) // 2, axis=0)  # whole cells
    cells = morton_encode(centres[:, 0], centres[:, 1], coreset.level)
    if not cells.size:
        return Areas.around(coreset.level, cells, np.empty(0))
    owner = nearest(points, 2 * centres + 1)
    masses = np.bincount(owner, weights, minlength=cells.size).astype(np.float64)
    order = np.argsort(-masses, kind="stable")
    return Areas.around(coreset.level, cells[order], masses[order])


def weighted_points(heatmap: Heatmap) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns the middles of regions with mass,
    `(m, 2)` in half cells from the west and south, and their masses.
    """
    occupied = heatmap.values > 0
    levels, prefixes = heatmap.levels[occupied].astype(np.int64), heatmap.prefixes[occupied]
    points = np.empty((levels.size, 2), np.int64)
    for level in np.unique(levels).tolist():
        here = levels == level
        for axis, index in enumerate(morton_decode(prefixes[here], level)):
            points[here, axis] = (2 * index + 1) << (heatmap.level - level)
    return points, heatmap.values[occupied]
