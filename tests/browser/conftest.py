"""A real server in a folder of its own, and Chromium that notes everything it asks for or complains about."""

import json
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass, field

import pytest

from tests.browser.chromium import PATIENCE_MS
from tests.services.installation import Installation
from tests.services.programs import free_port, wait_until

# So that pages of mail addresses are there; nobody listens at that port.
MAIL = {"HAZEMAP_MAIL_HOST": "127.0.0.1", "HAZEMAP_MAIL_PORT": "1", "HAZEMAP_MAIL_FROM": "maps@example.org"}


@dataclass(frozen=True, kw_only=True)
class Site:
    """A running installation; `password` is its steward's."""

    address: str
    username: str
    password: str
    installation: Installation


@pytest.fixture(scope="session")
def site(tmp_path_factory, migrated_sqlite):
    """`manage.py serve` without the demo, answering."""
    made = migrated_sqlite.copied_to(tmp_path_factory.mktemp("browser") / "state")
    address = f"http://127.0.0.1:{free_port()}"
    made.others |= MAIL | {"HAZEMAP_ORIGINS": address}
    made.manage("createdemo", "--empty")
    words = dict(line.split("=", 1) for line in (made.folder / "credentials").read_text().splitlines())
    with made.running("manage.py", "serve", "--port", address.rsplit(":", 1)[1]):
        wait_until(lambda: healthy(address), seconds=120, what="the server answering")
        yield Site(address=address, username=words["username"], password=words["password"], installation=made)


def healthy(address):
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=5) as answer:
            return json.load(answer)["status"] == "ok"
    except (urllib.error.URLError, OSError):
        return False


@dataclass(kw_only=True)
class Watch:
    """What a browser did that somebody should know of."""

    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)


@pytest.fixture(scope="session")
def months(site):
    """What `tests.browser.months` made: accounts and maps that several files look at."""
    return site.installation.script("months", package="tests.browser")


@pytest.fixture
def open_page(chromium, site):
    """A page of its own context; at the end every request was to our origin and nothing was complained of."""
    contexts, watch, own = [], Watch(), [site.address]

    def make(width=1280, height=900, scheme="light", address=""):
        """`address`: another one of the same server."""
        own.append(address or site.address)
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, base_url=own[-1]
        )
        contexts.append(context)
        context.on("request", lambda request: watch.requests.append(request.url))
        context.on("console", lambda message: _note(watch, message))
        context.on("weberror", lambda error: watch.complaints.append(str(error.error)))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => console.error("
            "'policy violation', event.violatedDirective, event.blockedURI))"
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    yield make
    for context in contexts:
        context.close()
    foreign = [url for url in watch.requests if not url.startswith((*own, "data:", "blob:"))]
    assert watch.requests
    assert foreign == []
    assert watch.complaints == []


@pytest.fixture(scope="session")
def session_cookies():
    """Of the steward who signed in once: each time takes a second. No test signs him out."""
    return []


@pytest.fixture
def signed_in(open_page, site, session_cookies):
    def make(*, by_form=False, **options):
        page = open_page(**options)
        page.context.add_cookies([] if by_form else session_cookies)
        if by_form or not session_cookies:
            sign_in(page, site)
        else:
            page.goto("/")
        session_cookies[:] = page.context.cookies()
        return page

    return make


def sign_in(page, site):
    page.goto("/")
    page.get_by_label("Username").fill(site.username)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()


@pytest.fixture(scope="module")
def colours_of(chromium):
    """How many pixels of a PNG have each colour, as "#rrggbb"."""
    blank = chromium.new_page()

    def count(png):
        script = """async (bytes) => {
          const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
          const context = canvas.getContext("2d");
          context.drawImage(bitmap, 0, 0);
          const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
          const found = {};
          for (let at = 0; at < data.length; at += 4) {
            const parts = [0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, "0"));
            const colour = "#" + parts.join("");
            found[colour] = (found[colour] ?? 0) + 1;
          }
          return found;
        }"""
        return blank.evaluate(script, list(png))

    yield count
    blank.close()


@pytest.fixture
def fits():
    """Nothing is wider than the window: no page scrolls sideways."""

    def check(page):
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 0, f"{page.url} is {beyond} px wider than its window"

    return check


def _note(watch, message):
    # A refused quote is an answer with an error status, which Chromium calls an error of its own.
    if message.type in {"error", "warning"} and not re.search(r"status of (409|422)", message.text):
        watch.complaints.append(message.text)


def real_data():
    """The folder of real check-ins, if the environment names one."""
    return os.environ.get("HAZEMAP_TEST_DATA", "")
