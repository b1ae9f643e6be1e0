"""The system's Chromium, driven by Playwright."""

import contextlib
import shutil

from playwright.sync_api import expect, sync_playwright

PROGRAM = shutil.which("chromium") or "/usr/bin/chromium"
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
# Of an upload that ended, on the page as the server wrote it: while one is followed it has a bar, and the
# page is loaded again at its end. Who looks at the state alone may still see the page that goes away.
ENDED = ".uploads li:not(:has(progress)) .tag.{}"
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Chromium:
    @staticmethod
    def missing():
        return "" if shutil.which(PROGRAM) else "chromium is not installed"

    @staticmethod
    @contextlib.contextmanager
    def started():
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=PROGRAM, args=SWITCHES)
            yield browser
            browser.close()
