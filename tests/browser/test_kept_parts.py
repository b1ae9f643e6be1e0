"""What is kept of a map is data: whoever writes it, with a seal that holds, runs nothing in a browser."""

import json
import shutil

import pytest
from django.urls import reverse

from heatmaps.exports import sealed_file
from tests.browser.chromium import PATIENCE_MS
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser

RUN = "window.owned = 1; fetch('/account/')"
TEXT = f'"\';{RUN}//</script><script>{RUN}</script><img src=x onerror="{RUN}">'
# Names of functions that scripts of ours have, or every object.
FUNCTIONS = ("eval", "constructor", "__proto__", "fullScreen", "searched", TEXT)
FIXED = {"function", "key", "light", "dark", "png"}  # names, and what a legend refuses


@pytest.fixture
def kept(site, settings):
    """The folder of kept files of a server that was taken over, key and all; emptied at the end."""
    settings.KEPT_FILES_KEY = (site.installation.folder / "keys" / "kept-files-key").read_text
    yield site.installation.folder / "rendered"
    shutil.rmtree(site.installation.folder / "rendered")


def spoilt(value, name=""):
    if isinstance(value, dict):
        return {key: spoilt(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [spoilt(each, name) for each in value]
    return value + TEXT if isinstance(value, str) and name not in FIXED else value


def spoil(path):
    """True where it is the parts of a map."""
    with sealed_file.opened(path) as stream:
        content = stream.read()
    if not content.startswith(b"{") or "drawings" not in (parts := json.loads(content)):
        return False
    parts = spoilt(parts) | {"script": RUN, "links": TEXT, "body": TEXT}
    parts["drawings"] += [{"function": name, "content": TEXT} for name in FUNCTIONS]
    with path.open("w+b") as stream:
        stream.write(json.dumps(parts).encode())
        stream.flush()
        sealed_file.seal(stream.fileno(), path.name)
    return True


def test_whoever_has_the_key_of_kept_files_runs_nothing_in_a_browser(site, chromium, months, kept):
    context = chromium.new_context(base_url=site.address)
    page, asked, april, may = context.new_page(), [], months["2026-04"], months["2026-05"]
    page.set_default_timeout(PATIENCE_MS)
    sign_in(page, site)
    addresses = [
        reverse("release-map", args=[april]),
        reverse("release-comparison-map", args=[april, may]),
        reverse("embed", args=[april]),
        reverse("release", args=[april]),
    ]
    for address in addresses:
        page.goto(address)
    assert sum(spoil(path) for path in kept.iterdir() if "." not in path.name) >= 2
    context.on("request", lambda request: asked.append(request.url))

    for address in addresses:
        assert page.goto(address).status == 200
        frame = page.frames[-1]
        frame.locator(".leaflet-control-zoom").first.wait_for()  # scripts of ours run
        assert "fetch(" in frame.content()
        assert [each.evaluate("typeof window.owned") for each in page.frames] == ["undefined"] * len(
            page.frames
        )
    assert [url for url in asked if "/account/" in url] == []
    assert len(asked) > len(addresses)
    context.close()
