"""What changed between two maps (static/hazemap/difference.js): on made-up maps, and on real cities."""

import os
from fractions import Fraction

import numpy as np
import pytest

from heatmaps.maps.heat import heat_of
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.records.aggregation import masses
from mechanisms.space.grid import Region, morton_decode
from tests.mechanisms.central.test_coverage import CITIES, place
from tests.mechanisms.examples import SEED, make
from tests.scripts.node import evaluated

SCRIPTS = ["surface.js", "density.js", "areas.js", "difference.js"]
WHOLE, QUARTER = Region(10, 50, 11, 52), Region(10, 51, 10.5, 52)
SQUARES = [
    {"level": 1, "x": [1], "y": [1], "values": [8.0], "deviations": [2.0]},
    {"level": 3, "x": [0, 3, 4], "y": [0, 3, 2], "values": [3.0, 5.0, 6.0], "deviations": [1.0, 0.5, 0.5]},
]
# The quarter's own squares, in a grid of its own.
OWN_SQUARES = [{"level": 2, "x": [0, 3], "y": [0, 3], "values": [3.0, 5.0], "deviations": [1.0, 0.5]}]


def framed(region):
    return {"region": list(region), "metres": [region.width_m, region.height_m]}


def heat(region, squares):
    return framed(region) | {"squares": squares, "rate": 0.05}


def densities(maps, frame, width):
    """(value, widest error) of one and other, (value, error) of the difference; whether it is clear.

    At every fourth pixel across and down: `(4096,)` each, from north-west to south-east.
    """
    found = evaluated(
        SCRIPTS,
        "(({ maps, frame, width, rate }) => {"
        " const lattices = maps.map((map) => density.densityOf(map, frame));"
        " const size = lattices[0].side ** 2;"
        " const [one, other] = lattices.map((lattice) => lattice.smoothed(width));"
        " const change = difference.density(one, other, size, rate);"
        " const fourth = Array.from({ length: size / 16 },"
        "   (_, at) => 4 * (at % 64) + 2 + 256 * (4 * Math.floor(at / 64) + 2));"
        " const all = (read) => fourth.map(read);"
        " return { maps: [one, other].map((map) => [all(map.value), all(map.widest)]),"
        "   change: [all(change.value), all(change.error)],"
        "   clear: all((at) => change.change(at) !== 'none') };"
        " })(given)",
        {"maps": maps, "frame": framed(frame), "width": width, "rate": 0.05},
    )
    return [np.array(one) for one in (*found["maps"], found["change"])], np.array(found["clear"])


def test_a_map_on_a_part_of_its_region_is_a_map_of_that_part():
    """Squares outside of the part add nothing, not even to its border."""
    maps = [heat(WHOLE, SQUARES), heat(QUARTER, OWN_SQUARES)]
    (one, other, change), clear = densities(maps, QUARTER, 6_000.0)
    assert one == pytest.approx(other)
    assert other[0].max() > 0
    assert change[0] == pytest.approx(0, abs=1e-9)
    assert change[1] == pytest.approx(np.hypot(one[1], other[1]))
    assert not clear.any()


def test_a_square_that_the_overlap_cuts_counts_by_its_part():
    even = [{"level": 0, "x": [0], "y": [0], "values": [100.0], "deviations": [1.0]}]
    (one, other, _), _ = densities([heat(WHOLE, even)] * 2, Region(10, 50, 10.75, 52), 6_000.0)
    middle = one[0].reshape(64, 64)[32]
    assert middle == pytest.approx(100 / (WHOLE.width_m * WHOLE.height_m / 1e6), rel=0.01)
    assert one == pytest.approx(other)


def test_what_changed_is_clear_and_what_did_not_is_not():
    """A third as many people in 64 small squares of the north-west; as many as before elsewhere."""
    x, y = (axis.ravel().tolist() for axis in np.meshgrid(np.arange(8), np.arange(8)))
    crowd = {"level": 6, "x": x + [column + 40 for column in x], "y": y + [row + 40 for row in y]}
    crowd |= {"deviations": [0.5] * 128}
    before, after = ([crowd | {"values": [value] * 64 + [9.0] * 64}] for value in (9.0, 3.0))
    (_, _, change), clear = densities([heat(WHOLE, before), heat(WHOLE, after)], WHOLE, 5_000.0)
    clear = clear.reshape(64, 64)
    assert clear[2:6, 2:6].all()
    assert (change[0].reshape(64, 64)[clear] < 0).all()
    assert not clear[32:].any()


def told(expression, given):
    return evaluated(SCRIPTS, f"(({{ least, changes, areaOf }}) => {expression})(difference)", given)


def test_the_least_clear_change_is_that_of_benjamini_and_hochberg():
    random = np.random.default_rng(SEED)
    ratios = np.concatenate([random.laplace(0, 0.5**0.5, 3_000), random.normal(0, 8, 300)])
    ordered = np.sort(abs(ratios))[::-1]
    passed = np.flatnonzero(np.exp(-np.sqrt(2) * ordered) <= 0.05 * np.arange(1, 3_301) / 3_300)
    assert told("least(given, 0.05)", ratios.tolist()) == pytest.approx(ordered[passed[-1]])
    assert told("least(given, 0.05)", [0.0] * 50) is None  # infinite: nothing is clear


def test_changes_chosen_for_being_clear_have_wider_intervals():
    """At the level that is left of the rate by their part of all; without a choice 2.1 standard errors."""
    found = evaluated(SCRIPTS, "given.map((shown) => difference.reach(shown, 1000, 0.05))", [1000, 100, 0])
    assert found == pytest.approx([np.log(20) / 2**0.5, np.log(200) / 2**0.5, np.log(20_000) / 2**0.5])


def test_people_of_areas_are_counted_on_the_ground_of_both_maps():
    """The area reaches beyond both; the second map covers its north-western quarter alone."""
    areas = [
        {"name": "", "polygons": [[[[9, 50.5], [10.25, 50.5], [10.25, 53], [9, 53], [9, 50.5]]]]},
        {"name": "", "polygons": [[[[370, 51], [370.5, 51], [370.5, 52], [370, 52], [370, 51]]]]},
        {"name": "", "polygons": [[[[0, 0], [1, 0], [1, 1], [0, 0]]]]},
    ]
    more = [{"level": 2, "x": [0, 3], "y": [0, 3], "values": [43.0, 5.0], "deviations": [1.0, 0.5]}]
    west, whole, nothing = told(
        "given.areas.map((area) => areaOf(given.maps, given.frame, area))",
        {"maps": [heat(WHOLE, SQUARES), heat(QUARTER, more)], "frame": list(QUARTER), "areas": areas},
    )
    assert (west["one"]["value"], west["other"]["value"]) == pytest.approx((3, 43))
    assert (west["value"], west["error"]) == pytest.approx((40, 2**0.5))
    assert west["covered"] == pytest.approx(0.25 / (1.25 * 2.5), rel=1e-2)
    assert (whole["one"]["value"], whole["other"]["value"]) == pytest.approx((8, 48))  # once round the world
    assert whole["covered"] == pytest.approx(1)
    assert nothing["covered"] == nothing["value"] == 0


def test_changes_of_areas_are_clear_of_all_together():
    """3 standard errors are clear alone, and no longer beside 19 areas without a change."""
    alone = [{"value": -3.0, "error": 1.0}]
    beside = [*alone, *[{"value": 0.1, "error": 1.0}] * 19]
    assert told("changes(given, 0.05)", alone) == ["fewer"]
    assert told("changes(given, 0.05)", beside) == ["none"] * 20
    assert told("changes(given, 0.05)", [{"value": 9.0, "error": 1.0}, *beside])[:2] == ["more", "none"]


PAIRS = 7  # of maps, in each of three cities


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
def test_maps_of_the_same_data_show_no_change():
    """21 pairs of maps at ε = 1 and 2 in three cities: two standard errors hold the difference of nothing.

    They do so where people are, too: in the places with 95 % of them.
    """
    drawn, held, held_among_people = [], [], []
    for city, (_, region) in CITIES.items():
        maps, true = maps_of(city, region)
        changes = ratios_of(maps, region)
        for ratios, clear in changes:
            drawn.append(clear.mean())
            held.append((abs(ratios) <= 2).mean())
            held_among_people.append((abs(ratios) <= 2)[true].mean())
    assert np.mean(drawn) <= 0.05
    assert np.mean(np.array(drawn) > 0) <= 0.05  # of the pairs, any change at all
    assert np.mean(held) >= 0.93
    assert np.mean(held_among_people) >= 0.93


def maps_of(city, region):
    """Pairs of heats, and `(4096,)` the pixels that hold most people."""
    persons, cells = place(city).records(np.arange(place(city).persons))
    maps, expected = [], place(city).persons
    for draw in range(PAIRS):
        for epsilon in (1, 2):
            mechanism = make("adaptive", epsilon=Fraction(epsilon), resolution=256, expected_persons=expected)
            truth = masses(persons=persons, cells=cells, level=8, unit=mechanism.unit)
            seed = SeededSource(SEED + 2 * draw + epsilon)
            maps.append(heat_of(mechanism.release(truth, seed), region))
    x, y = morton_decode(truth.cells, 8)
    exact = {"level": 8, "x": x.tolist(), "y": (255 - y).tolist()}
    exact |= {"values": (truth.masses / mechanism.unit).tolist(), "deviations": [0.0] * x.size}
    (density, _, _), _ = densities([heat(region, [exact])] * 2, region, max(one["width"] for one in maps))
    ordered = np.sort(density[0])[::-1]
    least = ordered[np.searchsorted(ordered.cumsum(), 0.95 * ordered.sum())]
    return maps, density[0] >= least


def ratios_of(maps, region):
    """Difference over error and whether it is clear, at each pixel, of each pair."""
    found = []
    for one, other in zip(maps[::2], maps[1::2], strict=True):
        (_, _, change), clear = densities([one, other], region, max(one["width"], other["width"]))
        found.append((change[0] / change[1], clear))
    return found
