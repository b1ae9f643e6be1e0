"""How often intervals hold the truth where people look: in regions with mass, in coloured ones, in districts.

On whole cities of real check-ins, which nothing was calibrated on. Needs HAZEMAP_TEST_DATA, but for the first
test.
"""

import os
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest

from mechanisms.central.adaptive.boxes import Rectangles
from mechanisms.central.adaptive.guide_tree import GuideTree
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.quadtree_cut import cell_masses
from mechanisms.evaluation.places import box
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.guide import SIDE, Guide
from mechanisms.records.aggregation import masses
from mechanisms.reproduction.check_ins import read_check_ins
from mechanisms.space.grid import Region, morton_decode
from tests.mechanisms.examples import SEED, crowd, make

CITIES = {
    "Austin": ("gowalla_u5628", Region(-98.3, 29.8, -97.3, 31.0)),
    "New York": ("foursquare_nyc_timed", Region(-74.3, 40.5, -73.65, 41.0)),
    "Los Angeles": ("foursquare_u4969_timed", Region(-118.7, 33.6, -117.6, 34.4)),
}
EPSILONS = ("0.5", "1", "4")
DRAWS = 6
GUIDES = (
    "of other people",
    "of another city",
    "of other people, moved by a cell",
    "of other people, moved by five",
    "of the same people",
    "of the same people, guided by others",
    "of the same people, not counted in",
)
MOVES = {"of other people, moved by a cell": (1, 0), "of other people, moved by five": (3, 4)}
FEW = 200  # people of a city, of whom all maps are made by one walk


class Tally:
    """Regions of several maps, with the truth about them, in persons."""

    def __init__(self, pairs):
        """`pairs` are of a mechanism and a mass map, which is released once."""
        rows, self.districts, self.parts, self.places = [], [], [], []
        for seed, (mechanism, truth) in enumerate(pairs):
            noise = np.sqrt(2) * float(first_scale(mechanism) / mechanism.unit)
            found = mechanism.release(truth, SeededSource(SEED + seed))
            true = cell_masses(truth, found.levels.astype(np.int64), found.prefixes) / mechanism.unit
            told = found.significant.has(found.levels, found.prefixes)
            rows.append((true, found.values, *found.intervals(), told, true >= 2 * noise))
            self.places.append(truth_of_told_places(found, truth, true, told) / mechanism.unit)
            if found.deviations is not None:
                self.districts += districts(found, true, seed=seed)
                self.parts += districts(found, true, seed=seed, parts=2)
        self.places = np.concatenate(self.places)
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
        """The part of the coloured places that holds less than half a person."""
        return (self.places < 0.5).mean()


def truth_of_told_places(found, truth, true, told):
    """True mass units of the coloured regions, or of the rectangles that coloured squares are parts of."""
    kept = found.measurements
    if kept is None or kept.shares is None:
        return (true[told] * truth.unit).astype(float)
    tree = GuideTree.of(Guide(shares=kept.shares), level=found.level, plain_from=kept.plain_from)
    depths = np.concatenate([part.depths.astype(np.int64) for part in kept.parts])
    codes = np.concatenate([part.codes for part in kept.parts])
    starts, order = codes << kept.deepest - depths, np.lexsort((-depths, codes << kept.deepest - depths))
    finest = order[np.unique(starts[order], return_index=True)[1]]  # of all that were measured
    rectangles = Rectangles(tree=tree, nodes=Nodes(depths=depths[finest], codes=codes[finest]))
    levels = found.levels.astype(np.int64)
    places = rectangles.holding(found.prefixes << 2 * (found.level - levels), level=found.level)
    coloured = np.unique(places[told])
    assert np.isin(places, coloured).sum() == told.sum()  # a rectangle is coloured as a whole
    return rectangles.masses(truth)[coloured].astype(float)


def first_scale(mechanism):
    """Of the noise that tells large regions from others, in mass units."""
    return mechanism.rounds.round_scales[0] if mechanism.name == "adaptive" else mechanism.leaf_scale


def districts(found, true, *, seed, count=100, parts=0):
    """(error, stated) of random rectangles of at least two squares of the coarsest released level.

    Or of one finer by `parts`, where they are sums of the regions that have their first corner inside.
    """
    random, level = np.random.default_rng(seed), max(int(found.levels.min()), 1) + parts
    level = min(level, found.level)
    side = 1 << level
    starts = found.prefixes << 2 * (found.level - found.levels.astype(np.int64))
    x, y = morton_decode(starts >> 2 * (found.level - level), level)
    result = []
    while len(result) < count:
        width, height = np.minimum(2 ** random.uniform(0, max(level, 2), 2), side).astype(np.int64)
        if width * height < 2:
            continue
        west, south = random.integers(0, side - width + 1), random.integers(0, side - height + 1)
        inside = (west <= x) & (x < west + width) & (south <= y) & (y < south + height)
        if inside.sum() < 2:
            continue
        error = abs(found.values[inside].sum() - true[inside].sum())
        result.append((error, np.sqrt((found.deviations[inside] ** 2).sum())))
    return result


@pytest.mark.parametrize(("version", "of_coloured"), [(1, 0.92), (2, 0.89)])
def test_intervals_hold_where_there_is_something(version, of_coloured):
    """Made-up crowds in a few cells, two rounds and one walk. 350 large regions: a standard error of 1.4 %.

    Twice the posterior's deviation to either side hold .86 of them. Such crowds are scattered more than
    people of any city; of their coloured regions one walk holds .907 (100 maps), and .071 are empty.
    """
    mechanism = replace(make("adaptive", epsilon=1, resolution=32), version=version)
    tally = Tally(
        [(mechanism, crowd(mechanism, cells=25, persons=200, seed=seed)) for seed in range(20)],
    )
    assert tally.coverage(tally.large) > 0.93
    assert tally.coverage(tally.told) > of_coloured
    assert tally.width(tally.large) < 1.3
    assert tally.empty < 0.08
    error, stated = np.array(tally.districts).T
    assert (error <= WITHIN_ERRORS * stated).mean() > 0.93


@pytest.mark.parametrize(
    ("is_counted", "cells", "large"), [(False, (0, 0), 0.93), (True, (0, 0), 0.91), (False, (2, 0), 0.93)]
)
def test_intervals_hold_in_guided_maps_of_made_up_crowds(is_counted, cells, large):
    """A map of the same crowd as a guide alone, which tells where its few places are, and counted in.

    Moved by two cells, which is one of the map, it takes all people to be where nobody is. 380 large regions:
    a standard error of 1.3 %. Districts have an error where squares were measured, and nowhere else.
    """
    mechanism, pairs = make("adaptive", epsilon=1, resolution=32), []
    for seed in range(20):
        truth = crowd(mechanism, cells=25, persons=200, seed=seed)
        before = mechanism.release(truth, SeededSource(SEED + 100 + seed))
        guide = Guide.of_map(before, same_people=is_counted)
        guided = replace(mechanism, guide=moved(guide, cells) if any(cells) else guide)
        pairs.append((guided, truth))
    tally = Tally(pairs)
    assert tally.coverage(tally.large) > large
    assert tally.coverage(tally.told) > 0.91
    assert tally.empty < 0.09
    assert bool(tally.districts) == is_counted
    if is_counted:
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


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_intervals_hold_for_few_people_of_real_cities(epsilon):
    """By one walk. 18 maps of three cities, each of other people; districts of one share its noise."""
    tallies = [tallied("adaptive", city, epsilon, FEW) for city in CITIES]
    coloured = sum(tally.told.sum() for tally in tallies)
    assert np.mean([tally.coverage(tally.large) for tally in tallies]) > 0.93
    assert pooled(tallies, "told") > 0.93 - 1.5 * np.sqrt(0.93 * 0.07 / coloured)
    assert max(tally.width(tally.large) for tally in tallies) < 1.3
    for parts in ("districts", "parts"):
        error, stated = np.concatenate([getattr(tally, parts) for tally in tallies]).T
        assert (error <= WITHIN_ERRORS * stated).mean() > 0.93, parts
    assert np.mean([tally.empty for tally in tallies]) < 0.05


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", GUIDES)
def test_intervals_hold_for_guided_maps_of_real_cities(kind, epsilon):
    """Whether the guide is right or not. 18 maps of three cities, 60 where noise is large."""
    draws = 20 if epsilon == "0.5" else DRAWS
    tallies = [tallied("adaptive", city, epsilon, FEW, guide=kind, draws=draws) for city in CITIES]
    assert pooled(tallies, "large") > 0.93
    assert pooled(tallies, "told") > 0.93
    is_in_squares = kind == "of the same people"
    for parts in ("districts", "parts"):
        rows = [row for tally in tallies for row in getattr(tally, parts)]
        assert bool(rows) == is_in_squares
        if rows:
            error, stated = np.array(rows).T
            assert (error <= WITHIN_ERRORS * stated).mean() > 0.93, parts
    empty = np.concatenate([tally.places for tally in tallies]) < 0.5
    assert empty.sum() <= 0.05 * empty.size + 2 * np.sqrt(0.05 * empty.size)


def pooled(tallies, name):
    """The coverage of such regions of all maps."""
    sizes = [getattr(tally, name).sum() for tally in tallies]
    covered = [
        tally.coverage(getattr(tally, name)) * size
        for tally, size in zip(tallies, sizes, strict=True)
        if size
    ]
    return sum(covered) / sum(sizes)


@cache
def tallied(name, city, epsilon, people=None, *, guide=None, draws=DRAWS):
    """Maps of everybody, or each of as many other people of the city; `guide` names one of `GUIDES`."""
    everybody = place(city).persons
    mechanism = make(name, epsilon=Fraction(epsilon), resolution=256, expected_persons=people or everybody)
    random = np.random.default_rng(SEED)
    drawn = [random.permutation(everybody) for _ in range(draws if people else 1)]
    truths = [truth_of(city, order[:people], mechanism.unit) for order in drawn]
    if guide is None:
        return Tally([(mechanism, truth) for truth in truths * (draws // len(truths))])
    guided = [
        replace(mechanism, guide=guide_of(guide, mechanism, city, order[: 2 * people], seed))
        for seed, order in enumerate(drawn)
    ]
    return Tally(zip(guided, truths, strict=True))


def moved(guide, cells):
    """As a file whose places are off by so many cells of the guide."""
    return Guide(shares=np.roll(guide.shares.reshape(SIDE, SIDE), cells, axis=(0, 1)).ravel())


def guide_of(kind, mechanism, city, order, seed):
    """order: people of the city, the mapped half before another half."""
    half = len(order) // 2
    if kind == "of another city":
        city = [*CITIES][[*CITIES].index(city) - 1]
        order = np.random.default_rng(SEED + seed).permutation(place(city).persons)[: 2 * half]

    def released(mechanism, chosen, seed):
        return mechanism.release(truth_of(city, chosen, mechanism.unit), SeededSource(SEED + seed))

    of_others = Guide.of_map(released(mechanism, order[half:], 100 + seed))
    if kind in MOVES:
        return moved(of_others, MOVES[kind])
    if kind in {"of other people", "of another city"}:
        return of_others
    if kind == "of the same people, guided by others":
        mechanism = replace(mechanism, guide=of_others)
    before = released(mechanism, order[:half], 200 + seed)
    return Guide.of_map(before, same_people=kind != "of the same people, not counted in")


def truth_of(city, chosen, unit):
    persons, cells = place(city).records(np.sort(chosen))
    return masses(persons=persons, cells=cells, level=8, unit=unit)


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
