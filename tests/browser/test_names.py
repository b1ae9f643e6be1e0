"""Names on a map of its own, as in a file: clear of signs, and searched without a server."""

from fractions import Fraction

import pytest
from django.utils.html import json_script

from heatmaps.maps.document import frame
from heatmaps.maps.scripts import LEAFLET, RELEASED_MAP, asset, script_of
from heatmaps.maps.zones import zone_parts
from mechanisms.results.zones import Zone, Zones, ZoneShares
from mechanisms.space.geojson import PER_DEGREE
from mechanisms.space.grid import Region

pytestmark = [pytest.mark.browser]

NEW_YORK = Region(-74.15, 40.55, -73.75, 40.9)
BOXES = {
    "Manhattan, below the Park": (-74.02, 40.70, -73.97, 40.76),
    "Brooklyn, the middle": (-73.99, 40.62, -73.90, 40.69),
    "around Hoboken": (-74.05, 40.73, -74.01, 40.76),
    "Queens, a block": (-73.850, 40.72, -73.848, 40.722),
    "Queens, the next block": (-73.848, 40.72, -73.846, 40.722),
    "Queens, the block behind": (-73.848, 40.722, -73.846, 40.724),
}
SHARES = (0.4, 0.21, 0.05, 0.11, 0.02, 0.01)
BOXES_OVER = """() => {
  const boxes = (chosen) => [...document.querySelectorAll(chosen)].map((one) => one.getBoundingClientRect());
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const signs = boxes(".zone-name span"), names = boxes(".place-name span");
  const others = [...names, ...signs];
  const hit = (box) => signs.some((sign) => sign !== box && over(box, sign));
  return [signs.length, names.length, others.filter(hit).length];
}"""


@pytest.fixture
def page(chromium):
    page = chromium.new_page(viewport={"width": 900, "height": 640}, reduced_motion="reduce")
    page.set_content(document())
    yield page
    page.close()


def document():
    zones = [
        Zone(
            name=name,
            corners=tuple((round(lon * PER_DEGREE), round(lat * PER_DEGREE)) for lon, lat in corners),
        )
        for name, (west, south, east, north) in BOXES.items()
        for corners in [((west, south), (east, south), (east, north), (west, north))]
    ]
    shares = ZoneShares(
        zones=Zones(tuple(zones)), margin_m=Fraction(100), shares=SHARES, standard_error=0.012
    )
    parts = zone_parts(shares, NEW_YORK)
    style = asset("leaflet/leaflet.css") + asset("hazemap/map.css")
    script = "\n".join([asset(LEAFLET), script_of(RELEASED_MAP)])
    data = json_script(parts.data, "released-map")
    ground = f'<main class="map-ground">{frame().body}</main>{data}'
    return f'<style>{style}</style><body class="map-document">{ground}<script>{script}</script>'


def test_signs_never_overlap_and_more_appear_as_one_zooms_in(page):
    found, shown = (
        [],
        "() => [...document.querySelectorAll('.zone-name span')].map((sign) => sign.textContent)",
    )
    for _ in range(9):
        signs, _, over = page.evaluate(BOXES_OVER)
        assert over == 0
        found.append(signs)
        assert "4 · 11.0 %" in page.evaluate(shown)  # of the blocks, the one with most people
        page.locator(".leaflet-container").press("+")
    assert found == sorted(found)
    assert (found[0], found[-1]) == (4, len(BOXES))


@pytest.mark.parametrize("way", ["pointer", "click", "keys"])
def test_a_zone_is_read_with_its_error(page, way):
    told = page.locator(".readout")
    box = page.locator(".region-border").bounding_box()
    west, south, east, north = NEW_YORK
    x = box["x"] + (-73.995 - west) / (east - west) * box["width"]
    y = box["y"] + (north - 40.73) / (north - south) * box["height"]
    if way == "keys":
        page.evaluate("() => document.querySelector('.leaflet-container').focus()")
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
            if told.is_visible():
                break
        assert "Zone 1: 40.0 ± 2.6 %" in page.locator(".spoken").inner_text()
    else:
        (page.mouse.move if way == "pointer" else page.mouse.click)(x, y)
    assert told.inner_text().split("\n")[:2] == ["Zone 1:", "40.0 ± 2.6 %"]
    assert "of all people; ± is what noise may add, 19 times in 20" in told.inner_text()


def test_names_keep_clear_of_signs_and_are_searched_without_a_server(page):
    signs, names, over = page.evaluate(BOXES_OVER)
    assert (signs, over) == (4, 0)
    assert names > 15

    search = page.get_by_role("combobox", name="Find a place on this map")
    search.fill("greenp")
    search.press("Enter")
    page.get_by_text("The map shows Greenpoint.").wait_for()
    page.locator(".place-name").get_by_text("Greenpoint", exact=True).wait_for()
    assert page.locator(".found-place").count() == 1
    assert page.evaluate(BOXES_OVER)[2] == 0

    search.fill("helsinki")
    search.press("Enter")
    page.get_by_text("No place named “helsinki”.").wait_for()
    search.press("Escape")
    assert search.input_value() == ""
