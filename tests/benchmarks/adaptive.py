"""Releases of `adaptive`, the usual mechanism, against people in use and resolution. In CPU seconds.

The yardstick is what is published for the same purpose: a full quadtree of 256 cells a side with exact noise
in each node (OpenDP's sampler, as ours has to be exact, too), made consistent by least squares (Hay et al.
2010, "Boosting the Accuracy of Differentially Private Histograms Through Consistency") in numpy. It takes the
same time whatever the people, and its map has no errors beside it.
"""

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from mechanisms.catalogue.registry import build
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism, Target
from mechanisms.randomness import SystemSource
from mechanisms.records.mass_map import MassMap
from tests.benchmarks.measure import Figure, Size, compare
from tests.benchmarks.mechanisms import clustered

EXPECTED: Final = {Size.TINY: (1_000,), Size.USUAL: (1_000, 100_000, 1_000_000)}
RESOLUTIONS: Final = {Size.TINY: (), Size.USUAL: (64, 1024, 4096)}
RESOLUTION: Final = 256
PERSONS: Final = 10_000  # that are told where the resolution varies
QUADTREE: Final = "a full quadtree of 256 cells a side, OpenDP and numpy"
REPEATS: Final = 3
Grid = NDArray[np.float64]
Integers = NDArray[np.int64]


def figures(size: Size) -> Iterator[Figure]:
    measured = size if size in EXPECTED else Size.USUAL
    for persons in EXPECTED[measured]:
        yield release(persons, RESOLUTION, size.repeats(REPEATS))
    for resolution in RESOLUTIONS[measured]:
        yield release(PERSONS, resolution, size.repeats(REPEATS))


def release(persons: int, resolution: int, repeats: int) -> Figure:
    """The same 2,000 people; `persons` is the public guess of how many there are."""
    mechanism = adaptive(persons, resolution)
    masses = clustered(mechanism.unit, resolution.bit_length() - 1)
    dense = dense_of(clustered(mechanism.unit, RESOLUTION.bit_length() - 1))
    draw = opendp_laplace(2 * dense.size)
    return compare(
        f"adaptive, {persons:,} people expected, resolution {resolution}",
        lambda: mechanism.release(masses, SystemSource()),
        QUADTREE,
        lambda: consistent(noisy(dense, draw)),
        repeats=repeats,
        clock=time.process_time,
        goal=f"adaptive.{persons}.{resolution}",
    )


def adaptive(persons: int, resolution: int) -> HeatmapMechanism:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1), expected_persons=persons)
    return build("adaptive", target=target, resolution=resolution, parameters={})


def dense_of(masses: MassMap) -> Integers:
    """Returns `(cells,)` masses by Morton code: four in a row make a square of the level above."""
    dense = np.zeros(4**masses.level, np.int64)
    dense[masses.cells] = masses.masses
    return dense


def opendp_laplace(most: int) -> Callable[[Integers], Integers]:
    """Returns what adds exact noise to the nodes of a tree of at most so many: a mass of 1 at ε = 1."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=float((1 << 24) * most.bit_length() / 2))
    return lambda exact: np.array(measurement(exact.tolist()), np.int64)


def noisy(dense: Integers, draw: Callable[[Integers], Integers]) -> list[Integers]:
    """Returns the levels of the tree from one square to the cells, measured."""
    levels = [dense]
    while levels[0].size > 1:
        levels.insert(0, levels[0].reshape(-1, 4).sum(axis=1))
    return [draw(level) for level in levels]


def consistent(levels: list[Integers]) -> Grid:
    """Returns the cells of the consistent tree nearest to the measured one (Hay et al. 2010, theorem 3)."""
    height = len(levels)
    upward = [levels[-1].astype(np.float64)]
    for above in range(1, height):
        children = upward[0].reshape(-1, 4).sum(axis=1)
        own = (4.0 ** (above + 1) - 4.0**above) / (4.0 ** (above + 1) - 1)
        upward.insert(0, own * levels[height - 1 - above] + (1 - own) * children)
    down = upward[0]
    for level in upward[1:]:
        missing = down - level.reshape(-1, 4).sum(axis=1)
        down = level + np.repeat(missing / 4, 4)
    return down
