"""Turns beliefs about rectangles of a guide's tree into a released map of quadtree cells."""

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.boxes import Rectangles, painted
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.leaf_posterior import Spread, likely_occupied
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.posterior_map import posterior_map
from mechanisms.central.adaptive.tree_posterior import Posterior
from mechanisms.guide import Guide
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements
from mechanisms.results.significance import RATE, SignificantSquares
from mechanisms.space.grid import morton_decode

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Of a guide to what was measured in the end: below it people are spread evenly over rectangles. Chosen on
# places of the even half.
LEAST_FIT: Final = 0.25
_WHOLE: Final = 1 - 1e-9  # of a rectangle, but for rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvenSquares:
    """Holds quadtree cells each of which lies in one rectangle, evenly filled."""

    levels: NDArray[np.uint8] = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,)
    leaves: Integers = field(repr=False)  # (k,) the rectangle
    shares: Floats = field(repr=False)  # (k,) of its mass


def guided_map(
    posterior: Posterior, tree: GuideTree, *, level: int, scale_persons: float, measurements: Measurements
) -> Heatmap:
    """Returns means with 95 % intervals, spread over the rectangles as the guide says.

    A guide that fits too little says nothing: then they are spread evenly. Sums of squares have no stated
    error: a sum that cuts through a rectangle is as far off as the guide is wrong there.
    """
    boxes = tree.rectangles(posterior.nodes.depths, posterior.nodes.codes)
    is_even = tree.fit(boxes, posterior.mean) < LEAST_FIT
    squares = rasterized(tree, posterior.nodes.depths, boxes, is_even=is_even)
    measurements = replace(measurements, is_even=is_even)
    heatmap = posterior_map(
        in_squares(posterior, squares), level=level, scale_persons=scale_persons, measurements=measurements
    )
    return replace(
        heatmap,
        deviations=None,
        significant=_significant(posterior, squares),
        total_error=math.sqrt(float((posterior.deviation**2).sum())) * scale_persons,
    )


def _significant(posterior: Posterior, squares: EvenSquares) -> SignificantSquares:
    """Returns all squares of rectangles that are likely occupied: nothing finer was looked at."""
    is_occupied = likely_occupied(posterior.spread.empty, rate=float(RATE))[squares.leaves]
    return SignificantSquares.with_parents(
        squares.levels[is_occupied].astype(np.int64), squares.prefixes[is_occupied]
    )


def rectangle_numbers(heatmap: Heatmap) -> Integers | None:
    """Returns the measured rectangle that each square of a map lies in, numbered from 1: `(k,)`.

    None for other maps.
    """
    measurements = heatmap.measurements
    if measurements is None or measurements.shares is None:
        return None
    depths = np.concatenate([part.depths.astype(np.int64) for part in measurements.parts])
    codes = np.concatenate([part.codes for part in measurements.parts])
    starts = codes << measurements.deepest - depths
    order = np.lexsort((-depths, starts))
    finest = order[np.unique(starts[order], return_index=True)[1]]  # of the nodes that begin at one place
    tree = GuideTree.of(
        Guide(shares=measurements.shares), level=heatmap.level, plain_from=measurements.plain_from
    )
    rectangles = Rectangles(tree=tree, nodes=Nodes(depths=depths[finest], codes=codes[finest]))
    up = 2 * (heatmap.level - heatmap.levels.astype(np.int64))
    return rectangles.holding(heatmap.prefixes << up, level=heatmap.level) + 1


def in_squares(posterior: Posterior, squares: EvenSquares) -> Posterior:
    """Returns beliefs about squares, from those about the rectangles that they are parts of.

    A part may hold nothing, or all that its rectangle does, whatever the guide says.
    """
    leaf, share = squares.leaves, squares.shares
    return Posterior(
        nodes=Nodes(depths=2 * squares.levels.astype(np.int64), codes=squares.prefixes),
        mean=posterior.mean[leaf] * share,
        deviation=posterior.deviation[leaf],
        spread=Spread(
            low=np.where(share < _WHOLE, 0.0, posterior.spread.low[leaf]),
            high=posterior.spread.high[leaf],
            empty=posterior.spread.empty[leaf],
        ),
    )


def rasterized(tree: GuideTree, depths: Integers, boxes: Integers, *, is_even: bool = False) -> EvenSquares:
    """Returns the coarsest such cells, in Morton order.

    is_even: rectangles are filled evenly, whatever the guide says.
    """
    side = tree.side
    level = side.bit_length() - 1
    codes = np.arange(side**2, dtype=np.int64)
    columns, rows = morton_decode(codes, level)
    leaf = painted(boxes, side=side)[rows, columns]
    plain_from = 0 if is_even else tree.plain_from
    plain = np.zeros(len(boxes), np.bool_) if plain_from is None else depths >= plain_from
    cells = np.stack((np.stack((columns, columns + 1), 1), np.stack((rows, rows + 1), 1)), axis=1)
    sizes = ((boxes[:, 0, 1] - boxes[:, 0, 0]) * (boxes[:, 1, 1] - boxes[:, 1, 0])).astype(np.float64)
    share = np.where(plain[leaf], 1 / sizes[leaf], tree.density(cells) / tree.density(boxes)[leaf])
    return _merged(level, codes, leaf, share)


def _merged(level: int, codes: Integers, leaf: Integers, share: Floats) -> EvenSquares:
    """Merges fours of siblings that lie in one rectangle and are as full into their parent."""
    done: list[tuple[Integers, Integers, Integers, Floats]] = []
    while level > 0 and codes.size:
        whole = np.zeros(codes.size, np.bool_)
        starts = np.flatnonzero(codes[: max(codes.size - 3, 0)] & 3 == 0)
        starts = starts[codes[starts + 3] == codes[starts] + 3]
        fours = np.add.outer(starts, np.arange(4))
        alike = (leaf[fours] == leaf[fours[:, :1]]).all(axis=1) & (
            np.ptp(share[fours], axis=1) <= 1e-9 * share[fours[:, 0]]
        )
        whole[fours[alike].ravel()] = True
        done.append((np.full(int((~whole).sum()), level), codes[~whole], leaf[~whole], share[~whole]))
        first = fours[alike, 0]
        codes, leaf, share, level = codes[first] >> 2, leaf[first], 4 * share[first], level - 1
    done.append((np.full(codes.size, level), codes, leaf, share))
    levels, prefixes, leaves, shares = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.argsort(prefixes << 2 * (int(levels.max()) - levels), kind="stable")
    return EvenSquares(
        levels=levels[order].astype(np.uint8),
        prefixes=prefixes[order],
        leaves=leaves[order],
        shares=np.minimum(shares[order], 1.0),
    )
