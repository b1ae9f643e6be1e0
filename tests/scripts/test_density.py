"""The density on a map's pixels (static/hazemap/density.js), its colours and what a reader chooses."""

import math

import numpy as np
import pytest

from tests.scripts.node import evaluated

# A crowd in the north of a tall region, and one square in which nobody is sure.
SIDES = range(6, 10)
CONTENT = {
    "region": [0.0, 50.0, 40.0, 70.0],
    "metres": [2.2e6, 2.2e6],
    "squares": [
        {
            "level": 4,
            "x": [x for x in SIDES for _ in SIDES],
            "y": [y - 4 for _ in SIDES for y in SIDES],
            "values": [500.0] * 16,
            "deviations": [10.0] * 16,
        },
        {"level": 4, "x": [3], "y": [12], "values": [3.0], "deviations": [30.0]},
    ],
    "rate": 0.05,
}
SMOOTHED = """(() => {
  const { pixelAt, side, smoothed } = density.densityOf(given);
  const people = smoothed(100_000);
  const pixels = Array.from({ length: side * side }, (_, pixel) => pixel);
  const told = Object.fromEntries(["value", "error", "sureness", "isClear"].map(
    (name) => [name, pixels.map(people[name])]));
  const places = [[0, 70], [39.999, 50.001], [-0.01, 60], [40, 60], [20, 60]];
  const at = places.map(([lng, lat]) => pixelAt({ lat, lng }));
  return { ...told, side, least: people.least, range: people.range, at };
})()"""


@pytest.fixture(scope="module")
def density():
    return evaluated(["surface.js", "density.js"], SMOOTHED, CONTENT)


def test_densities_add_up_to_the_people_by_the_area_of_each_pixel(density):
    """Rows of a Mercator picture are lower and shorter farther north; their areas add up to the region's."""
    side = density["side"]
    edges = np.linspace(*(math.asinh(math.tan(math.radians(lat))) for lat in (70, 50)), side + 1)
    latitudes = np.degrees(np.arctan(np.sinh(edges)))
    middles = np.degrees(np.arctan(np.sinh((edges[1:] + edges[:-1]) / 2)))
    high = (latitudes[:-1] - latitudes[1:]) / 20 * 2_200
    wide = 2_200 / side * np.cos(np.radians(middles)) / math.cos(math.radians(60))
    values = np.array(density["value"]).reshape(side, side)
    assert float((values.sum(axis=1) * high * wide).sum()) == pytest.approx(8_003, rel=0.005)


def test_what_is_drawn_is_clear_and_its_range_holds_it(density):
    values, errors, clear = (np.array(density[name]) for name in ("value", "error", "isClear"))
    assert 0 < clear.mean() < 1
    assert (clear == (np.array(density["sureness"]) >= density["least"])).all()
    np.testing.assert_allclose(np.array(density["sureness"])[clear], values[clear] / errors[clear])
    low, high = density["range"]
    assert high == values[clear].max()
    assert low == values[clear].min() > high / 1000


def test_a_place_has_its_pixel_and_others_have_none(density):
    side = density["side"]
    first, last, west, east, middle = density["at"]
    assert (first, last, west, east) == (0, side * side - 1, None, None)
    row = (math.asinh(math.tan(math.radians(70))) - math.asinh(math.tan(math.radians(60)))) / (
        math.asinh(math.tan(math.radians(70))) - math.asinh(math.tan(math.radians(50)))
    )
    assert middle % side == side // 2
    assert middle // side == pytest.approx(row * side, abs=1)


def test_undrawn_places_state_the_density_of_a_crowd_that_would_be_drawn():
    """As many people as the level needs whose squares are two widths wide; of a grid, by its noise alone."""
    row, column = 200, 40
    edges = [math.asinh(math.tan(math.radians(lat))) for lat in (70, 50)]
    at = edges[0] + (edges[1] - edges[0]) * (row + 0.5) / 256
    place = [(column + 0.5) / 256, (70 - math.degrees(math.atan(math.sinh(at)))) / 20]
    one = dict(zip(("x", "y"), ([int(share * 2**11)] for share in place), strict=True))
    expression = """(({ content, one, pixel }) => {
      const at = (changes, width) => density.densityOf({ ...content, ...changes }).smoothed(width);
      const squares = [{ level: 11, ...one, values: [1], deviations: [0] }];
      const spots = [9, 8, 7, 6, 5]; // level 3 and 4 of squares of 275 and 137.5 km
      const limits = [200_000, 80_000].map(
        (width) => at({ spots }, width).limit(pixel) / at({ squares }, width).value(pixel));
      const unknown = [at({ spots }, 20_000), at({ spots: null }, 80_000)].map(
        (density) => density.limit(pixel));
      return { limits, unknown, grid: at({ spots: [] }, 100_000).limit(pixel) };
    })(given)"""
    given = {"content": CONTENT, "one": one, "pixel": row * 256 + column}
    found = evaluated(["surface.js", "density.js"], expression, given)
    assert found["limits"] == pytest.approx([6, 5], rel=0.02)
    assert found["unknown"] == [None, None]
    assert found["grid"] > 0


def test_colours_run_from_least_to_largest_and_fade_where_unsure():
    expression = """(() => {
      const { BANDS, bandShare, colour, fade, ramp, share } = heat_colours;
      const colours = ramp(["#000000", "#ff0000", "#ffffff"], false);
      return {
        count: colours.length,
        ends: [0, 0.5, 1].map((part) => colour(colours, part)),
        dark: colour(ramp(["#000000", "#ffffff"], true), 0),
        log: [1, 10, 100, 1000, 0.1].map((value) => share(value, [1, 100], "log")),
        linear: [0, 25, 100].map((value) => share(value, [1, 100], "linear")),
        same: share(5, [5, 5], "log"),
        bands: [100, 19, 5, 3].map(bandShare),
        fades: [2, 3, 4, 9].map((sureness) => fade(sureness, 2)),
      };
    })()"""
    found = evaluated(["heat_colours.js"], expression, None)
    assert found["count"] == 256
    assert found["ends"] == [[0, 0, 0], pytest.approx([255, 0, 0], abs=2), [255, 255, 255]]
    assert found["dark"] == [255, 255, 255]
    assert found["log"] == pytest.approx([0, 0.5, 1, 1, 0])
    assert found["linear"] == pytest.approx([0, 0.25, 1])
    assert found["same"] == 1
    assert found["bands"] == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert found["fades"] == pytest.approx([0.25, 0.625, 1, 1])


def test_listeners_hear_of_what_changed_and_nothing_else():
    expression = """(({ makeView }) => {
      const view = makeView({ layer: "heat", width: 5 });
      const heard = [];
      view.onChange((names) => heard.push([names, view.chosen()]));
      view.set({ width: 5 });
      view.set({ width: 6, layer: "heat", other: 1 });
      view.chosen().layer = "sure";
      return { heard, chosen: view.chosen() };
    })(view)"""
    after = {"layer": "heat", "width": 6}
    assert evaluated(["view.js"], expression, None) == {"heard": [[["width"], after]], "chosen": after}
