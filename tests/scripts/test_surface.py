"""The smooth surface (static/hazemap/surface.js) against quadrature, simulation and scipy."""

import os
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt
from scipy.stats import norm

from heatmaps.maps.heat import heat_of
from mechanisms.central.adaptive.mechanism import MOST_WALKED
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.records.aggregation import masses
from mechanisms.space.grid import morton_decode
from tests.mechanisms.central.test_coverage import CITIES, place
from tests.mechanisms.examples import SEED, make
from tests.scripts.node import evaluated

MIDDLES = [(index + 0.5) / 64 for index in range(64)]
WIDTHS = [0.05, 0.08]
SQUARES = [
    {"level": 1, "x": [0], "y": [1], "values": [8.0], "deviations": [2.0]},
    {"level": 4, "x": [9, 10, 12], "y": [3, 3, 8], "values": [3.0, 0.5, 6.0], "deviations": [1.0, 1.0, 0.5]},
]


def smooth(squares, *, points=MIDDLES, widths=WIDTHS):
    found = evaluated(
        ["surface.js"],
        "(({ squares, points, widths }) => {"
        " const found = surface.smooth(squares, points, points, widths);"
        " return { values: [...found.values], errors: [...found.errors] }; })(given)",
        {"squares": squares, "points": points, "widths": widths},
    )
    return (np.array(found[name]).reshape(len(points), -1) for name in ("values", "errors"))


def kernel(at, width):
    """A Gaussian cut at two widths, down to zero there, with integral 1."""
    grid = np.linspace(-2, 2, 100_001)
    total = np.trapezoid(np.exp(-(grid**2) / 2) - np.exp(-2), grid)
    u = at / width
    return np.where(abs(u) < 2, np.exp(-(u**2) / 2) - np.exp(-2), 0) / total / width


def test_it_is_a_gaussian_over_the_squares():
    """Against the mean of the window over 40 × 40 places of each square."""
    values, _ = smooth(SQUARES)
    fine, points = (np.arange(40) + 0.5) / 40, np.array(MIDDLES)[:, np.newaxis]
    expected = np.zeros((64, 64))
    for part in SQUARES:
        for x, y, value in zip(part["x"], part["y"], part["values"], strict=True):
            across, down = (
                kernel((at + fine) / 2 ** part["level"] - points, width).mean(axis=1)
                for at, width in ((x, WIDTHS[0]), (y, WIDTHS[1]))
            )
            expected += value * np.outer(down, across)
    whole = [kernel((np.arange(4000) + 0.5) / 4000 - points, width).mean(axis=1) for width in WIDTHS]
    expected /= np.outer(whole[1], whole[0])  # the part of the window that lies in the region
    assert values == pytest.approx(expected, abs=2e-3 * expected.max())


def test_an_even_map_is_even_up_to_its_border():
    values, _ = smooth([{"level": 0, "x": [0], "y": [0], "values": [7.0], "deviations": [1.0]}])
    assert values == pytest.approx(7.0)


def test_it_keeps_all_persons_where_no_border_is_near():
    values, _ = smooth([{"level": 3, "x": [4], "y": [3], "values": [5.0], "deviations": [1.0]}])
    assert values.mean() == pytest.approx(5.0, rel=1e-3)


def test_its_error_is_that_of_noise_and_of_unknown_places():
    """1,000 draws: normal noise in each square, and half of its persons in one place, evenly anywhere in it.

    With a quarter of the square of a square's persons in a clump that is half of them. Standard errors have
    a standard error of 2.2 %.
    """
    squares = [
        {"level": 2, "x": [1, 2], "y": [1, 1], "values": [8.0, 4.0], "deviations": [2.0, 1.0]},
        {"level": 4, "x": [9], "y": [9], "values": [6.0], "deviations": [0.5]},
    ]
    _, errors = smooth(squares)
    random, points = np.random.default_rng(SEED), np.array(MIDDLES)[20:44]
    draws = np.zeros((1_000, 24, 24))
    for part in squares:
        side = 2.0 ** -part["level"]
        for x, y, value, deviation in zip(
            part["x"], part["y"], part["values"], part["deviations"], strict=True
        ):
            even = [
                kernel((at + (np.arange(40) + 0.5) / 40) * side - points[:, np.newaxis], width).mean(axis=1)
                for at, width in ((x, WIDTHS[0]), (y, WIDTHS[1]))
            ]
            window = np.outer(even[1], even[0])
            clumps = random.uniform(size=(1_000, 2))
            for draw, (u, v) in enumerate(clumps):
                clump = np.outer(
                    kernel((y + v) * side - points, WIDTHS[1]), kernel((x + u) * side - points, WIDTHS[0])
                )
                draws[draw] += value / 2 * (clump - window) + random.normal(0, deviation) * window
    assert errors[20:44, 20:44] == pytest.approx(draws.std(axis=0), rel=0.15, abs=0.02 * errors.max())
    assert errors[20:44, 20:44].mean() == pytest.approx(draws.std(axis=0).mean(), rel=0.03)


def test_the_tail_is_that_of_the_normal_law():
    points = [-1.0, 0.0, 0.3, 1.0, 2.5, 2.999, 3.001, 4.0, 6.0, 12.0]
    found = evaluated(["surface.js"], "given.map(surface.upperTail)", points)
    assert found[2:] == pytest.approx(norm.sf(points[2:]), rel=1e-6)
    assert found[:2] == [1, 1]  # what is not above zero is no candidate


def test_what_is_shown_for_being_large_has_wider_intervals():
    """Against the normal law; of all places, shown or not, ± is the usual one."""
    reach = "given.map(([some, all]) => surface.reach(some, all, 0.05))"
    found = evaluated(["surface.js"], reach, COUNTS)
    assert found == pytest.approx([norm.isf(0.05 * some / places / 2) for some, places in COUNTS])
    assert found[0] == pytest.approx(1.96, abs=1e-3)


COUNTS = [[100, 100], [20, 100], [1, 65_536]]


def threshold(ratios):
    found = evaluated(
        ["surface.js"],
        "surface.threshold({ values: given, errors: given.map(() => 1) }, 0.05)",
        ratios,
    )
    return np.inf if found is None else found


def test_the_threshold_is_that_of_benjamini_and_hochberg():
    ratios = np.random.default_rng(SEED).normal(0.5, 1.5, 3_000)
    ordered = np.sort(ratios)[::-1]
    passed = np.flatnonzero(norm.sf(ordered) <= 0.05 * np.arange(1, 3_001) / 3_000)
    assert threshold(ratios.tolist()) == pytest.approx(ordered[passed[-1]])
    assert threshold([0.0] * 50) == np.inf


DRAWS = 20
EPSILONS = ("0.5", "1", "2", "5", "20")


@pytest.mark.long
@pytest.mark.skipif("HAZEMAP_TEST_DATA" not in os.environ, reason="HAZEMAP_TEST_DATA is not set")
@pytest.mark.parametrize("city", CITIES)
def test_more_budget_never_shows_less_of_a_city(city):
    """Twenty maps each at ε = 0.5, 1, 2, 5, 20 in the default view (figures in docs/explanation/maps.md).

    The part of the true mass that is shown rises, but for one standard error, and for 2 % where a walk gives
    way to two rounds, which show less; of the area that is shown at most 5 % has no true mass
    within two widths; the ± of what is shown holds the truth of 93 %.
    """
    region = CITIES[city][1]
    shown = [default_views(city, region, epsilon) for epsilon in EPSILONS]
    masses_shown, empty, held = (
        [[view[part] for view in views] for views in shown] for part in ("mass", "empty", "held")
    )
    means, errors = ([function(part) for part in masses_shown] for function in (np.mean, spread))
    walked = [place(city).persons * float(epsilon) <= MOST_WALKED for epsilon in EPSILONS]
    for earlier, later in pairwise(range(len(shown))):
        least = means[earlier] - np.hypot(errors[earlier], errors[later])
        least -= 0.02 * (walked[earlier] and not walked[later])
        assert means[later] > least, (means, errors)
    assert max(map(np.mean, empty)) <= 0.05
    assert min(map(np.mean, held)) >= 0.93
    assert means[0] > 0.4


def spread(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


def default_views(city, region, epsilon):
    """Of each draw: the part of the true mass that is shown, of what is shown that is empty, that ± holds."""
    persons, cells = place(city).records(np.arange(place(city).persons))
    mechanism = make(
        "adaptive", epsilon=Fraction(epsilon), resolution=256, expected_persons=place(city).persons
    )
    truth = masses(persons=persons, cells=cells, level=8, unit=mechanism.unit)
    x, y = morton_decode(truth.cells, 8)
    true = np.zeros((256, 256))
    true[255 - y, x] = truth.masses / mechanism.unit
    contents = [heat_of(mechanism.release(truth, SeededSource(SEED + draw)), region) for draw in range(DRAWS)]
    return [
        judged(true, widths_of(content), **view)
        for content, view in zip(contents, shown_of(contents, true), strict=True)
    ]


def widths_of(content):
    """Of the Gaussian, as shares of the region."""
    return [content["width"] / metres for metres in content["metres"]]


def judged(true, widths, *, places, held):
    shown = np.zeros(true.size, bool)
    shown[places] = True
    shown = shown.reshape(true.shape)
    near = distance_transform_edt(true == 0, sampling=[1 / 256 / widths[1], 1 / 256 / widths[0]]) <= 2
    return {
        "mass": true[shown].sum() / true.sum(),
        "empty": (~near)[shown].mean() if places else 0.0,
        "held": held,
    }


def shown_of(contents, true):
    """The places that show heat in the default view, and the part of them whose ± holds the truth."""
    y, x = np.nonzero(true)
    part = {"level": 8, "x": x.tolist(), "y": y.tolist(), "values": true[y, x].tolist()}
    return evaluated(
        ["surface.js"],
        "given.maps.map(({ squares, widths, rate }) => {"
        " const points = Float64Array.from({ length: 256 }, (_, index) => (index + 0.5) / 256);"
        " const [shown, true_] = [squares, [given.truth]].map("
        "   (parts) => surface.smooth(parts, points, points, widths));"
        " const least = surface.threshold(shown, rate);"
        " const places = [...shown.values.keys()].filter("
        "   (at) => shown.values[at] / shown.errors[at] >= least);"
        " const reach = surface.reach(places.length, shown.values.length, rate);"
        " const held = places.filter((at) =>"
        "   Math.abs(shown.values[at] - true_.values[at]) <= reach * shown.errors[at]);"
        " return { places, held: places.length ? held.length / places.length : 1 }; })",
        {
            "maps": [
                {"squares": one["squares"], "widths": widths_of(one), "rate": one["rate"]} for one in contents
            ],
            "truth": part | {"deviations": [0.0] * x.size},
        },
    )
