"""`make pictures`: starts the demo in a folder that is thrown away, and renews the pictures of the README."""

import io
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.browser.chromium import PATIENCE_MS, Chromium
from tests.browser.conftest import healthy
from tests.services.installation import ROOT, Installation
from tests.services.programs import free_port, wait_until

FOLDER = ROOT / "docs" / "pictures"
SIZE = {"width": 1200, "height": 780}
MOST_BYTES = 400_000
LOOKS = ("light", "dark")
# What the tour of the README shows: file name, address, and what is there once the page is complete.
TOUR = (
    ("home", "/", "main img"),
    ("ask", "/datasets/demo-city/releases/new/?mechanism=adaptive&epsilon=0.5&resolution=256", "main img"),
    ("budget", "/datasets/demo-city/budget/", "main svg"),
)
LATEST_MAP = (
    "import django; django.setup(); from heatmaps.models import Release; import json;"
    "print(json.dumps(str(Release.objects.get(dataset__slug='demo-city', state='published').pk)))"
)


def main():
    if missing := Chromium.missing():
        sys.exit(f"pictures are taken with Chromium: {missing}")
    with tempfile.TemporaryDirectory(prefix="hazemap-pictures-") as folder:
        demo = Installation(folder=Path(folder))
        demo.manage("migrate", "--verbosity", "0")
        demo.manage("createdemo")
        take(demo)


def take(demo):
    """The map of the demo city with the value under the pointer, and the pages of the tour."""
    words = dict(line.split("=", 1) for line in (demo.folder / "credentials").read_text().splitlines())
    release = json.loads(demo.python("-c", LATEST_MAP).stdout)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with demo.running("manage.py", "serve", "--port", str(port)), Chromium.started() as browser:
        wait_until(lambda: healthy(address), seconds=120, what="the server answering")
        for look in LOOKS:
            page = browser.new_context(viewport=SIZE, color_scheme=look).new_page()
            page.set_default_timeout(PATIENCE_MS)
            sign_in(page, address, words)
            page.goto(f"{address}/releases/{release}/map/")
            save(map_of(page), FOLDER / f"map-{look}.png")
            for name, path, complete in TOUR:
                page.goto(f"{address}{path}")
                page.locator(complete).first.wait_for()
                page.wait_for_load_state("networkidle")
                save(page.screenshot(), FOLDER / f"{name}-{look}.png")


def sign_in(page, address, words):
    page.goto(f"{address}/sign-in/")
    page.fill("[name=login]", words["username"])
    page.fill("[name=password]", words["password"])
    page.click("main button")
    page.wait_for_url(f"{address}/")


def map_of(page):
    page.locator(".heat-legend").wait_for()
    page.locator("img.heat[src^='data:image/png']").wait_for()
    box = page.locator(".region-border").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.52 * box["height"])
    page.locator(".readout").wait_for()
    return page.screenshot()


def save(content, path):
    """In 256 colours where it would be too large otherwise."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    if len(content) > MOST_BYTES:
        picture = picture.quantize(256)
    picture.save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
