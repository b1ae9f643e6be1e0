"""Streets in Chromium: those of a file by its ranges, those of another host for members alone."""

import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from PIL import Image

from heatmaps.config.settings import FRONT_DIR
from heatmaps.maps.streets import DRAWER
from tests.browser.chromium import PATIENCE_MS
from tests.maps.streets.helsinki import made
from tests.services.programs import found_or_skip

pytestmark = [pytest.mark.browser, pytest.mark.long]

PINK = "#ff00aa"
DRAWN = """pane => [...document.querySelectorAll(`.leaflet-${pane}-pane canvas`)].some((canvas) => {
  if (!canvas.width) return false;
  const sheet = new OffscreenCanvas(canvas.width, canvas.height);
  const copy = sheet.getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size > 20;
})"""

FAULTS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map((one) => one.id + " " + one.nodes[0].html);
}"""


class Drawer:
    """What draws vector tiles, of an npm package."""

    @staticmethod
    def missing():
        there = (FRONT_DIR / DRAWER).is_file()
        return "" if there else f"{DRAWER} is not installed; `make setup` does it where npm is"


class Tiles(BaseHTTPRequestHandler):
    """Pink pictures; notes who asks for what."""

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        picture = io.BytesIO()
        Image.new("RGB", (256, 256), PINK).save(picture, "PNG")
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(picture.getvalue())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def foreign():
    """A host of tiles: `localhost`, where the site is 127.0.0.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Tiles) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def streets(tmp_path_factory, world, foreign):
    """A server over the file and the host; its address, and what `street_release` made."""
    found_or_skip(Drawer)
    folder = tmp_path_factory.mktemp("streets")
    others = {
        "HAZEMAP_BASEMAP": str(made(folder)),
        "HAZEMAP_TILES": f"http://localhost:{foreign.server_port}/{{z}}/{{x}}/{{y}}.png",
        "HAZEMAP_TILES_ATTRIBUTION": "Tiles <b>for tests</b>",
    }
    site = world.installation(folder, others=others)
    told = site.script("street_release", package="tests.browser")
    with site.serving() as server:
        yield server.address, told


@pytest.fixture
def open_page(chromium, streets):
    """A page; what it asked for, and what it complained of."""
    contexts = []

    def make(member=True, width=1280, scheme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=streets[0]
        )
        contexts.append(context)
        if member:
            context.add_cookies([{"name": "sessionid", "value": streets[1]["session"], "url": streets[0]}])
        asked, complaints = [], []
        context.add_init_script(AXE_SCRIPT)
        context.on("response", lambda answer: asked.append((answer.status, answer.url)))
        context.on("console", lambda message: complaints.append(message.text))
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page, asked, complaints

    yield make
    for context in contexts:
        context.close()


def foreign_ones(asked, *origins):
    return [url for _, url in asked if not url.startswith((*origins, "data:", "blob:"))]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_public_map_shows_streets_of_the_file_and_asks_nobody_else(
    open_page, streets, foreign, width, scheme
):
    page, asked, complaints = open_page(member=False, width=width, scheme=scheme)
    page.goto(f"/releases/{streets[1]['release']}/map/")
    for pane in ("streets-0", "streets-0-names"):
        page.wait_for_function(DRAWN, arg=pane)
    ranges = [status for status, url in asked if "/basemap/city.pmtiles" in url]
    assert ranges
    assert set(ranges) == {206}
    assert foreign_ones(asked, streets[0]) == []
    assert foreign.asked == []
    assert complaints == []
    credit = page.locator(".leaflet-control-attribution")
    assert "Streets: © OpenStreetMap contributors (ODbL)" in credit.inner_text()
    # The file names Helsinki: our own name of it would be a second one.
    assert "Helsinki" not in page.locator(".place-name").all_inner_texts()
    page.get_by_role("button", name="Names").click()
    assert page.locator(".leaflet-streets-0-names-pane canvas").count() == 0


def test_a_member_asks_that_host_alone_and_is_told(open_page, streets, foreign):
    host = f"http://localhost:{foreign.server_port}"
    page, asked, complaints = open_page()
    slug, release = streets[1]["slug"], streets[1]["release"]
    told = f"Street tiles come from {host.removeprefix('http://')}. That server sees which area you look at."
    for address in (
        f"/releases/{release}/map/",
        f"/datasets/{slug}/releases/new/?open=part",
        "/datasets/new/",
    ):
        foreign.asked.clear()
        page.goto(address)
        if "datasets" in address:
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.locator(".street-pictures img.leaflet-tile-loaded").first.wait_for(state="attached")
        page.locator("#quote[aria-busy]").wait_for(state="detached")
        page.get_by_text(told).wait_for()
        assert page.evaluate(FAULTS) == []
        assert "Tiles <b>for tests</b>" in page.locator(".leaflet-control-attribution").inner_text()
        assert foreign.asked
        for path, headers in foreign.asked:
            assert path.endswith(".png")
            assert not {"Referer", "Cookie", "Origin"} & headers.keys()
    assert foreign_ones(asked, streets[0], host) == []
    assert complaints == []
    # Their letters are in the pictures: our names wait to be asked for.
    assert page.get_by_role("button", name="Names").get_attribute("aria-pressed") == "false"
