"""Turns beliefs about rectangles of a guide's tree into a released map of quadtree cells."""

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from mechanisms.central.adaptive.boxes import painted
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.leaf_posterior import EMPTY_BELOW_PERSONS, Spread, likely_occupied
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.posterior_map import posterior_map
from mechanisms.central.adaptive.tree_posterior import Posterior
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements
from mechanisms.results.significance import RATE, ToldApart
from mechanisms.space.grid import morton_decode, morton_encode

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Of what a rectangle holds, a part of it with the share f of its density holds Beta(c f, c (1 - f)).
CONCENTRATION: Final = 0.4
# Sums that cut through rectangles are off by how these are filled, whole ones are not: so much of its square
# is added for either.
SPREADING: Final = 0.04
_NO_MORE: Final = 1e-9  # of a Beta distribution that gives nothing to the rest
_TAIL: Final = 0.025
_NEARLY_WHOLE: Final = 0.95  # share of a part that is not taken for possibly empty


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvenSquares:
    """Quadtree cells each of which lies in one rectangle, evenly filled."""

    levels: NDArray[np.uint8] = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,)
    leaves: Integers = field(repr=False)  # (k,) the rectangle
    shares: Floats = field(repr=False)  # (k,) of its mass


def guided_map(
    found: Posterior, tree: GuideTree, *, level: int, scale_persons: float, measurements: Measurements
) -> Heatmap:
    """Means with 95 % intervals, spread over the rectangles as the guide says."""
    boxes = tree.rectangles(found.nodes.depths, found.nodes.codes)
    squares = rasterized(tree, found.nodes.depths, boxes)
    spread_out = in_squares(found, squares, scale_persons=scale_persons)
    drawn = posterior_map(spread_out, level=level, scale_persons=scale_persons, measurements=measurements)
    return replace(
        drawn,
        told=_told(spread_out, boxes[likely_occupied(found.spread.empty, rate=float(RATE))], side=tree.side),
        total_error=math.sqrt(float((found.deviation**2).sum())) * scale_persons,
    )


def _told(squares: Posterior, boxes: Integers, *, side: int) -> ToldApart:
    """Squares that are likely occupied, and those that hold a rectangle that is."""
    cut, chosen = squares.cut, likely_occupied(squares.spread.empty, rate=float(RATE))
    levels, prefixes = holding_squares(boxes, side=side)
    return ToldApart.with_parents(
        np.concatenate((cut.levels[chosen], levels)), np.concatenate((cut.prefixes[chosen], prefixes))
    )


def in_squares(found: Posterior, squares: EvenSquares, *, scale_persons: float) -> Posterior:
    """Beliefs about squares, from those about the rectangles that they are parts of."""
    leaf, share = squares.leaves, squares.shares
    mean = found.mean[leaf] * share
    spread = SPREADING * found.mean[leaf] ** 2 * (1 - share)
    first, second = CONCENTRATION * share, np.maximum(CONCENTRATION * (1 - share), _NO_MORE)
    whole, nearly = share >= 1, share >= _NEARLY_WHOLE
    high = np.where(whole, 1.0, betaincinv(first, second, 1 - _TAIL))
    low = np.where(whole, 1.0, np.where(nearly, betaincinv(first, second, _TAIL), 0.0))
    half = EMPTY_BELOW_PERSONS / scale_persons
    little = betainc(first, second, np.minimum(half / np.maximum(found.mean[leaf], half), 1.0))
    empty = 1 - (1 - found.spread.empty[leaf]) * (1 - np.where(whole, 0.0, little))
    return Posterior(
        nodes=Nodes(depths=2 * squares.levels.astype(np.int64), codes=squares.prefixes),
        mean=mean,
        deviation=np.sqrt((found.deviation[leaf] ** 2 + spread) * share),
        spread=Spread(
            low=np.minimum(found.spread.low[leaf] * low, mean),
            high=np.maximum(found.spread.high[leaf] * high, mean),
            empty=empty,
        ),
    )


def holding_squares(boxes: Integers, *, side: int) -> tuple[Integers, Integers]:
    """(k,) levels and prefixes of the smallest squares that hold rectangles."""
    finest = side.bit_length() - 1
    first = morton_encode(boxes[:, 0, 0], boxes[:, 1, 0], finest)
    last = morton_encode(boxes[:, 0, 1] - 1, boxes[:, 1, 1] - 1, finest)
    up = np.zeros(len(boxes), np.int64)
    while (apart := first >> 2 * up != last >> 2 * up).any():
        up[apart] += 1
    return finest - up, first >> 2 * up


def rasterized(tree: GuideTree, depths: Integers, boxes: Integers) -> EvenSquares:
    """The coarsest such cells, in Morton order."""
    side = tree.side
    level = side.bit_length() - 1
    codes = np.arange(side**2, dtype=np.int64)
    columns, rows = morton_decode(codes, level)
    leaf = painted(boxes, side=side)[rows, columns]
    plain = np.zeros(len(boxes), np.bool_) if tree.plain_from is None else depths >= tree.plain_from
    cells = np.stack((np.stack((columns, columns + 1), 1), np.stack((rows, rows + 1), 1)), axis=1)
    sizes = ((boxes[:, 0, 1] - boxes[:, 0, 0]) * (boxes[:, 1, 1] - boxes[:, 1, 0])).astype(np.float64)
    share = np.where(plain[leaf], 1 / sizes[leaf], tree.density(cells) / tree.density(boxes)[leaf])
    return _merged(level, codes, leaf, share)


def _merged(level: int, codes: Integers, leaf: Integers, share: Floats) -> EvenSquares:
    """Fours of siblings that lie in one rectangle and are as full become their parent."""
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
