"""The smooth surface in Python equals that of static/hazemap/surface.js, which has tests of its own."""

import numpy as np
import pytest

from heatmaps.maps.heat import heat_of
from heatmaps.maps.heat_view import PIXELS, heat_view
from heatmaps.maps.image import mercator_latitudes
from heatmaps.maps.surface import PointLattice, Squares, smooth
from mechanisms.space.grid import Region
from tests.exports.examples import make_heatmap
from tests.mechanisms.examples import SEED
from tests.scripts.node import evaluated

COLUMNS = [(index + 0.5) / 48 for index in range(48)]
ROWS = [((index + 0.5) / 40) ** 1.1 for index in range(40)]
RATE = 0.05


def random_squares():
    """Of coarse and fine levels, some at the border; more of the finest than are computed at once."""
    random, made = np.random.default_rng(SEED), []
    for level, count in ((0, 1), (3, 20), (7, 4_200), (11, 30)):
        x, y = random.integers(0, 2**level, (2, count))
        values = random.exponential(30 / 2**level, count)
        deviations = random.uniform(80, 160, count) / 2**level
        made.append(Squares(level=level, x=x, y=y, values=values, deviations=deviations))
    return made


def by_script(squares, widths):
    """Values, errors, and the threshold, in node."""
    given = [
        {name: getattr(some, name).tolist() for name in ("x", "y", "values", "deviations")}
        | {"level": some.level}
        for some in squares
    ]
    found = evaluated(
        ["surface.js"],
        "(({ squares, columns, rows, widths, rate }) => {"
        " const found = surface.smooth(squares, columns, rows, widths);"
        " return [[...found.values], [...found.errors], surface.threshold(found, rate)]; })(given)",
        {"squares": given, "columns": COLUMNS, "rows": ROWS, "widths": widths, "rate": RATE},
    )
    shape = (len(ROWS), len(COLUMNS))
    return np.reshape(found[0], shape), np.reshape(found[1], shape), found[2]


@pytest.mark.parametrize("widths", [(0.04, 0.07), (0.3, 0.02)])
def test_it_is_the_surface_of_the_script(widths):
    values, errors, least = by_script(random_squares(), widths)
    points = PointLattice(columns=np.array(COLUMNS), rows=np.array(ROWS), widths=widths)
    found = smooth(random_squares(), points)
    assert found.values == pytest.approx(values, rel=1e-9)
    assert found.errors == pytest.approx(errors, rel=1e-9)
    assert found.threshold(RATE) == pytest.approx(least, rel=1e-9)
    assert found.ratios.min() < least < found.ratios.max()


REGION = Region(0, 56, 4, 62)
CROWD = {(3, 4, 4): (900.0, 10.0), (3, 3, 4): (300.0, 10.0), (1, 0, 0): (1.0, 3.0)}


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_is_that_of_the_page(dark):
    """Every pixel of the default view, in node; squares are sent there to four digits."""
    heatmap = make_heatmap(CROWD, deviations=[10.0, 10.0, 3.0])
    shown = evaluated(
        ["surface.js", "density.js", "heat_colours.js"],
        "(({ content, dark }) => {"
        " const { side, smoothed } = density.densityOf(content);"
        " const { colour, fade, ramp, share } = heat_colours;"
        " const found = smoothed(content.width);"
        " const colours = ramp(Object.values(content.palettes)[0], dark);"
        " return Array.from({ length: side * side }, (_, pixel) => found.isClear(pixel)"
        "   ? [...colour(colours, share(found.value(pixel), found.range, 'log')),"
        "      255 * fade(found.sureness(pixel), found.least)]"
        "   : [0, 0, 0, 0]); })(given)",
        {"content": heat_of(heatmap, REGION), "dark": dark},
    )
    pixels = heat_view(heatmap, REGION).pixels(dark=dark).astype(float)
    expected = np.reshape(shown, (PIXELS, PIXELS, 4))
    assert 0.03 < (expected[..., 3] > 0).mean() < 0.95
    off = abs(pixels - expected).max(axis=2)
    assert (off <= 2).mean() > 0.999  # one colour of a ramp farther, where rounding decides
    assert off.max() < 8


def test_nothing_is_shown_of_a_map_without_people():
    nobody = {(3, 4, 4): (0.0, 1.0)}
    view = heat_view(make_heatmap(nobody, deviations=[1.0]), REGION)
    assert view.least == np.inf
    assert view.span is None
    assert not view.pixels(dark=False).any()


def test_a_map_without_known_errors_has_no_heat():
    assert heat_view(make_heatmap(), REGION) is None
    assert heat_of(make_heatmap(), REGION) is None


def test_densities_are_those_of_the_ground():
    """An even map of 7 people: nearer to the pole, where parallels are shorter, more of them a km²."""
    view = heat_view(make_heatmap({(0, 0, 0): (7.0, 0.1)}, deviations=[0.1]), REGION)
    rows = mercator_latitudes(REGION, PIXELS)
    middle = 7 / (REGION.width_m * REGION.height_m / 1e6)
    expected = middle * np.cos(np.radians(59)) / np.cos(np.radians(rows))
    assert view.densities == pytest.approx(
        np.broadcast_to(expected[:, np.newaxis], (PIXELS, PIXELS)), rel=1e-6
    )
