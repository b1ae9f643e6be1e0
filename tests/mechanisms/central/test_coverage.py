"""How often intervals hold the truth where people look: in regions with mass, in coloured ones, in districts.

On whole cities of real check-ins, which nothing was calibrated on. Needs HAZEMAP_TEST_DATA, but for the first
test.
"""

import os
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest

from mechanisms.central.adaptive.quadtree_cut import cell_masses
from mechanisms.error_bounds import WITHIN_ERRORS
from mechanisms.records.aggregation import masses
from mechanisms.reproduction.check_ins import read_check_ins
from mechanisms.reproduction.places import box
from mechanisms.reproduction.seeded import SeededSource
from mechanisms.space.grid import Region, morton_decode
from tests.mechanisms.examples import SEED, crowd, make

CITIES = {
    "Austin": ("gowalla_u5628", Region(-98.3, 29.8, -97.3, 31.0)),
    "New York": ("foursquare_nyc_timed", Region(-74.3, 40.5, -73.65, 41.0)),
    "Los Angeles": ("foursquare_u4969_timed", Region(-118.7, 33.6, -117.6, 34.4)),
}
EPSILONS = ("0.5", "1", "4")
DRAWS = 6


class Tally:
    """Regions of several maps, with the truth about them, in persons."""

    def __init__(self, mechanism, truths):
        """`truths` are mass maps; each is released once."""
        rows, self.districts, self.parts = [], [], []
        scales = getattr(mechanism, "round_scales", None) or [mechanism.leaf_scale]
        noise = np.sqrt(2) * float(scales[0] / mechanism.unit)
        for seed, truth in enumerate(truths):
            found = mechanism.release(truth, SeededSource(SEED + seed))
            true = cell_masses(truth, found.levels.astype(np.int64), found.prefixes) / mechanism.unit
            told = found.told.has(found.levels, found.prefixes)
            rows.append((true, found.values, *found.intervals(), told, true >= 2 * noise))
            if found.deviations is not None:
                self.districts += districts(found, true, seed=seed)
                self.parts += districts(found, true, seed=seed, parts=2)
        columns = zip(*rows, strict=True)
        self.true, self.values, self.low, self.high, self.told, self.large = map(np.concatenate, columns)

    def coverage(self, chosen):
        return ((self.low <= self.true) & (self.true <= self.high))[chosen].mean()

    def width(self, chosen):
        """Mean half-width in those of an error of normal law with the same mean square."""
        half = (self.high - self.low)[chosen].mean() / 2
        return half / 1.96 / np.sqrt(((self.values - self.true)[chosen] ** 2).mean())

    @property
    def empty(self):
        """The part of the coloured regions that holds less than half a person."""
        return (self.true[self.told] < 0.5).mean()


def districts(found, true, *, seed, count=100, parts=0):
    """(error, stated) of random rectangles of at least two squares of the coarsest released level.

    Or of one finer by `parts`, where they are sums of the regions that have their first corner inside.
    """
    random, level = np.random.default_rng(seed), int(found.levels.min()) + parts
    side = 1 << level
    starts = found.prefixes << 2 * (found.level - found.levels.astype(np.int64))
    x, y = morton_decode(starts >> 2 * (found.level - level), level)
    result = []
    while len(result) < count:
        width, height = (2 ** random.uniform(0, level, 2)).astype(np.int64)
        if width * height < 2:
            continue
        west, south = random.integers(0, side - width + 1), random.integers(0, side - height + 1)
        inside = (west <= x) & (x < west + width) & (south <= y) & (y < south + height)
        if inside.sum() < 2:
            continue
        error = abs(found.values[inside].sum() - true[inside].sum())
        result.append((error, np.sqrt((found.deviations[inside] ** 2).sum())))
    return result


def test_intervals_hold_where_there_is_something():
    """Made-up crowds in a few cells. 350 large regions: a standard error of 1.4 %.

    Twice the posterior's deviation to either side hold .86 of them.
    """
    mechanism = make("adaptive", epsilon=1, resolution=32)
    tally = Tally(mechanism, [crowd(mechanism, cells=25, persons=200, seed=seed) for seed in range(20)])
    assert tally.coverage(tally.large) > 0.93
    assert tally.coverage(tally.told) > 0.92
    assert tally.width(tally.large) < 1.3
    assert tally.empty < 0.07
    error, stated = np.array(tally.districts).T
    assert (error <= WITHIN_ERRORS * stated).mean() > 0.93


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("city", CITIES)
def test_intervals_hold_in_real_cities(city, epsilon):
    """Six maps. Of 80 to 1,300 regions, a standard error of .6 to 2.5 %; districts of one share its noise.

    Twice the posterior's deviation held .83 to .93 of the large regions and as much of the coloured ones.
    """
    tally = tallied("adaptive", city, epsilon)
    assert tally.coverage(tally.large) > 0.93
    assert tally.coverage(tally.told) > 0.93 - 1.5 * np.sqrt(0.93 * 0.07 / tally.told.sum())
    assert max(tally.width(tally.large), tally.width(tally.told)) < 1.3
    for error, stated in (np.array(tally.districts).T, np.array(tally.parts).T):
        assert (error <= WITHIN_ERRORS * stated).mean() > 0.93
    assert tally.empty < 0.05 + 2 * np.sqrt(0.05 / tally.told.sum())


@cache
def tallied(name, city, epsilon):
    persons, cells = place(city).records(np.arange(place(city).persons))
    mechanism = make(name, epsilon=Fraction(epsilon), resolution=256, expected_persons=place(city).persons)
    truth = masses(persons=persons, cells=cells, level=8, unit=mechanism.unit)
    return Tally(mechanism, [truth] * DRAWS)


@lru_cache(maxsize=len(CITIES))
def place(city):
    name, region = CITIES[city]
    return box(region, *read_check_ins(Path(os.environ["HAZEMAP_TEST_DATA"]) / f"{name}.csv.gz"))


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
def test_few_of_the_coloured_regions_of_real_cities_are_empty():
    """Mean over three cities and three epsilons, and that privtree's intervals hold in coloured leaves."""
    for name in ("adaptive", "privtree"):
        tallies = [tallied(name, city, epsilon) for city in CITIES for epsilon in EPSILONS]
        assert np.mean([tally.empty for tally in tallies]) < 0.05
        assert np.mean([tally.coverage(tally.told) for tally in tallies]) > 0.93
