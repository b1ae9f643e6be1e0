"""Finds the map that fits noisy quadtree measurements best in the pyramidal L1 norm. Post-processing only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csc_array

from mechanisms.central.sparse_emd.measurement import MeasuredLevel
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import numbered


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Leaves:
    """Holds the disjoint regions that make up the map: one unknown mass each, coarse to fine."""

    levels: NDArray[np.int64]
    prefixes: NDArray[np.int64]
    fitted: NDArray[np.bool_]  # kept cells of the finest level; the others were left out on the way


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Programme:
    """States min cost · (x, over, under) with sums · (x, over, under) = measured, all variables ≥ 0."""

    cost: NDArray[np.float64]
    sums: csc_array
    measured: NDArray[np.float64]


def reconstruct(measured: Sequence[MeasuredLevel], *, unit: int) -> Heatmap:
    """Solves Algorithm 2, line 9 (Ghazi et al. 2022): argmin over s' ≥ 0 of the L1 distance of pyramids.

    Total: should the solver ever fail, the kept cells of the finest level are given their own noisy
    values, cut at 0, and everything else is 0. That uses noisy values only, so privacy does not depend
    on it, and the failure does not show.
    """
    leaves = _leaves(measured)
    masses = _solve(_programme(measured, leaves))
    if masses is None:
        masses = _without_solver(measured, leaves)
    persons = np.maximum(masses[: leaves.levels.size], 0) / unit
    return _heatmap(measured[-1].level, leaves, _spread(leaves, persons))


def _solve(programme: Programme) -> NDArray[np.float64] | None:
    """Returns the solution in mass units, or None when the solver did not reach an optimum."""
    # In units of the largest measurement: the solver's tolerances are absolute.
    size = float(np.abs(programme.measured).max()) or 1.0
    result = linprog(  # type: ignore[call-overload]  # the stubs know no sparse A_eq
        programme.cost, A_eq=programme.sums, b_eq=programme.measured / size, method="highs"
    )
    if result.status != 0 or not np.isfinite(result.x).all():
        return None
    solution: NDArray[np.float64] = result.x * size
    return solution


def _without_solver(measured: Sequence[MeasuredLevel], leaves: _Leaves) -> NDArray[np.float64]:
    masses = np.zeros(leaves.levels.size)
    masses[leaves.fitted] = measured[-1].noisy[measured[-1].is_selected]
    return masses


def _spread(leaves: _Leaves, persons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns another map that fits as well: what a parent's left-out cells hold together, in equal parts.

    They have the same cost and are in the same sums. The solver gives all to the first of them, which draws a
    checkerboard that nobody measured.
    """
    own = np.arange(leaves.levels.size)
    parents = numbered(leaves.levels, leaves.prefixes) >> 2
    _, group = np.unique(np.where(leaves.fitted, -1 - own, parents), return_inverse=True)
    even: NDArray[np.float64] = (np.bincount(group, persons) / np.bincount(group))[group]
    return even


def _leaves(measured: Sequence[MeasuredLevel]) -> _Leaves:
    """Returns left-out cells of every level, then the kept cells of the finest."""
    finest = measured[-1]
    prefixes = [level.cells[~level.is_selected] for level in measured] + [finest.cells[finest.is_selected]]
    levels = [level.level for level in measured] + [finest.level]
    sizes = [prefix.size for prefix in prefixes]
    return _Leaves(
        levels=np.repeat(levels, sizes),
        prefixes=np.concatenate(prefixes),
        fitted=np.arange(sum(sizes)) >= sum(sizes[:-1]),
    )


def _programme(measured: Sequence[MeasuredLevel], leaves: _Leaves) -> Programme:
    """Writes one equation per kept cell: masses of its leaves + under - over = its noisy mass."""
    selected = [level.cells[level.is_selected] for level in measured]
    offsets = np.cumsum([0, *(cells.size for cells in selected)])
    rows, columns = zip(
        *(
            _membership(level.level, cells, offset, leaves)
            for level, cells, offset in zip(measured, selected, offsets.tolist(), strict=False)
        ),
        strict=True,
    )
    weights = np.concatenate(
        [np.full(c.size, _weight(m, measured)) for m, c in zip(measured, selected, strict=True)]
    )
    noisy = np.concatenate([level.noisy[level.is_selected] for level in measured])
    return Programme(
        cost=np.concatenate((_leaf_costs(measured, leaves), weights, weights)),
        sums=_with_slack(np.concatenate(rows), np.concatenate(columns), leaves.levels.size, weights.size),
        measured=noisy.astype(np.float64),
    )


def _membership(
    level: int, selected: NDArray[np.int64], offset: int, leaves: _Leaves
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns (rows, columns) of the leaves in the kept cells of a level;
    all ancestors of a leaf were kept.
    """
    inside = np.flatnonzero((leaves.levels > level) | (leaves.fitted & (leaves.levels == level)))
    ancestors = leaves.prefixes[inside] >> 2 * (leaves.levels[inside] - level)
    return offset + np.searchsorted(selected, ancestors), inside


def _with_slack(
    rows: NDArray[np.int64], columns: NDArray[np.int64], unknowns: int, equations: int
) -> csc_array:
    slack = np.arange(equations)
    return csc_array(
        (
            np.repeat((1.0, 1.0, -1.0), (rows.size, equations, equations)),
            (
                np.concatenate((rows, slack, slack)),
                np.concatenate((columns, unknowns + slack, unknowns + equations + slack)),
            ),
        ),
        shape=(equations, unknowns + 2 * equations),
    )


def _weight(level: MeasuredLevel, measured: Sequence[MeasuredLevel]) -> float:
    """Returns 2^-i of the scaled pyramidal transform, times 2^q:
    the finest weights stay off the tolerances.
    """
    return 2.0 ** (measured[0].level - level.level)


def _leaf_costs(measured: Sequence[MeasuredLevel], leaves: _Leaves) -> NDArray[np.float64]:
    """Returns the costs of mass in left-out regions.

    The measurement vector is 0 there and on all levels below.

    (‖ŷ - P s'‖ in Lemma 3.2 runs over every cell of the pyramid, not only over the kept ones.)
    """
    weights = [_weight(level, measured) for level in measured]
    below = np.cumsum(weights[::-1])[::-1]  # Σ_{j ≥ i} 2^-j
    return np.where(leaves.fitted, 0.0, below[leaves.levels - measured[0].level])


def _heatmap(level: int, leaves: _Leaves, persons: NDArray[np.float64]) -> Heatmap:
    occupied = persons > 0
    return Heatmap(
        level=level,
        levels=leaves.levels[occupied].astype(np.uint8),
        prefixes=leaves.prefixes[occupied],
        values=persons[occupied],
        standard_errors=np.full(int(occupied.sum()), np.nan),
    )
