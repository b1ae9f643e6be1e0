"""A released map in Chromium beside a bare Leaflet page: first paint, frames while it is dragged; the ground.

Each with its scripts in the page, opened from a file, in turns.
"""

import gzip
import io
import json
import tempfile
from datetime import date
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles import finders

from heatmaps.exports import Released, format_of, release_sheet
from heatmaps.maps.ground import ground_of
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.space.grid import Region
from tests.benchmarks.measure import Figure, Size, in_turns
from tests.browser.chromium import Chromium
from tests.mechanisms.examples import crowd, make

# Coasts of every kind; the last two have the most of it.
REGIONS: Final = {
    "Austin": Region(-98.3, 29.8, -97.3, 31.0),
    "New York": Region(-74.3, 40.5, -73.65, 41.0),
    "Stockholm": Region(17.6, 59.1, 18.8, 59.6),
    "Norway": Region(4.0, 57.8, 12.0, 64.0),
}
REPEATS: Final = 5
RESTING_MS: Final = 1000  # until everything has been drawn
DRAGGED: Final = 160  # moves of the mouse
FIRST_PAINT: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
# The mean time of a frame in seconds since then.
COUNTING: Final = """() => {
  let [frames, first, last] = [0, null, null];
  const step = (now) => {
    first ??= now;
    [frames, last] = [frames + 1, now];
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  window.frameSeconds = () => (last - first) / 1000 / (frames - 1);
}"""


def figures(size: Size) -> list[Figure]:
    """First paint and frames, of the same pages; the sizes of grounds are details of the first."""
    with tempfile.TemporaryDirectory() as folder, Chromium.started() as browser:
        ours, bare = Path(folder) / "map.html", Path(folder) / "bare.html"
        ours.write_bytes(map_page())
        bare.write_text(bare_page())
        pages = in_turns(
            lambda: opened(browser, ours), lambda: opened(browser, bare), repeats=size.repeats(REPEATS)
        )
    return [
        Figure(
            name=name,
            alternative="a bare Leaflet page",
            ours=tuple(seconds[number] for seconds in pages[0]),
            theirs=tuple(seconds[number] for seconds in pages[1]),
            goal=f"maps.{key}",
            details=details,
        )
        for number, (key, name, details) in enumerate(
            (
                ("paint", "first paint of a map of 256 x 256 cells", ground_sizes()),
                ("frame", "a frame while a map of 256 x 256 cells is dragged", {}),
            )
        )
    ]


def opened(browser: Any, path: Path) -> tuple[float, float]:
    """Returns seconds of a page until it is painted, and of a frame while it is dragged."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    seconds = first_paint(page), frame(page)
    page.close()
    return seconds


def first_paint(page: Any) -> float:
    page.wait_for_function(f"() => {FIRST_PAINT}")
    return float(page.evaluate(FIRST_PAINT)) / 1000


def frame(page: Any) -> float:
    """The map is dragged to and fro by the mouse, as fast as it follows."""
    page.locator(".leaflet-container").hover()
    page.wait_for_timeout(RESTING_MS)
    page.mouse.down()
    page.evaluate(COUNTING)
    for step in range(DRAGGED):
        page.mouse.move(640 + 4 * abs(step % 80 - 40), 400 + 2 * abs(step % 60 - 30))
    seconds = float(page.evaluate("frameSeconds()"))
    page.mouse.up()
    return seconds


def map_page() -> bytes:
    """A release of 2,000 made-up persons around 400 places (seed 0) of a city by the sea, at ε = 1."""
    mechanism = make("adaptive", epsilon=1, resolution=256, expected_persons=2000)
    heatmap = mechanism.release(crowd(mechanism, cells=400, persons=2000, seed=0), SeededSource(0))
    sheet = release_sheet(
        title="Bench",
        result=heatmap,
        mechanism=mechanism.name,
        parameters={},
        guarantee=mechanism.guarantee,
        region=REGIONS["New York"],
        released=date(2026, 1, 1),
        statements=[],
        values="shares",
    )
    stream = io.BytesIO()
    format_of(".html").write(Released(result=heatmap, region=REGIONS["New York"], sheet=sheet), stream)
    return stream.getvalue()


def bare_page() -> str:
    """Leaflet with its controls and one rectangle."""
    script, style = (Path(str(finders.find(f"leaflet/leaflet.{kind}"))).read_text() for kind in ("js", "css"))
    west, south, east, north = REGIONS["New York"]
    return f"""<!doctype html><meta charset="utf-8"><title>Bare</title>
<style>{style} #map {{ height: 700px }}</style><div id="map"></div><script>{script}</script><script>
var map = L.map("map").fitBounds([[{south}, {west}], [{north}, {east}]]);
L.rectangle([[{south}, {west}], [{north}, {east}]]).addTo(map);</script>"""


def ground_sizes() -> dict[str, float]:
    """Kilobytes over the wire of the ground of each region, with what lies one and a half extents around."""
    return {f"ground of {name} in kB": round(ground_kb(region), 1) for name, region in REGIONS.items()}


def ground_kb(region: Region) -> float:
    across, up = 1.5 * (region.east - region.west), 1.5 * (region.north - region.south)
    around = Region(region.west - across, region.south - up, region.east + across, region.north + up)
    return len(gzip.compress(json.dumps(ground_of(around)).encode(), 6)) / 1000
