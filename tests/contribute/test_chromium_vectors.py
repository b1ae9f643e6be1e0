"""Chromium makes the same reports from the same random words as node and other clients, and seals them."""

import pytest

from tests.contribute.roles import SUITE
from tests.mechanisms.devices.vectors import vectors

pytestmark = [pytest.mark.browser, pytest.mark.long]

REPORTS = """async (cases) => {
  const { messagesOf } = await import("./encodings/encoding.js");
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return cases.map(({ encoding, table, reports }) => reports.map(({ places, words }) => {
    const list = words.match(/.{16}/g).map((word) => BigInt("0x" + word));
    const bytes = Uint8Array.from(atob(table), (letter) => letter.charCodeAt(0));
    const cells = places.map(([x, y]) => ({ x, y }));
    return messagesOf(encoding, bytes, cells, { word: () => list.shift() }).map(hex).join("");
  }));
}"""
SEALED = """async ({ key, facts, isNative }) => {
  const { sealer, suiteOf } = await import("./sealing.js");
  const seal = await sealer(
    Uint8Array.from(key), "hazemap message 1", Uint8Array.from(facts), suiteOf(isNative));
  return Array.from(await seal(Uint8Array.of(1, 2, 3)));
}"""


@pytest.fixture
def page(visit, invite):
    made = visit().page()
    made.goto(invite()[1])
    made.get_by_role("button", name="Take part").wait_for()
    return made


def test_it_makes_the_reports_of_other_clients(page):
    cases = vectors()
    expected = [[report["messages"] for report in case["reports"]] for case in cases]
    assert page.evaluate(REPORTS, cases) == expected


@pytest.mark.parametrize("is_native", [True, False], ids=["of the browser", "of the package"])
def test_python_opens_what_chromium_sealed(page, invite, is_native):
    found, _ = invite()
    key = found.analyser.public_key().public_bytes_raw()
    given = {"key": list(key), "facts": list(found.sha256), "isNative": is_native}
    sealed = bytes(page.evaluate(SEALED, given))
    assert SUITE.decrypt(sealed, found.analyser, b"hazemap message 1\0" + found.sha256) == b"\1\2\3"
