"""Reports from fixed random words are those of every other client, in node; and what breaks is found out."""

import base64

import pytest

from tests.mechanisms.devices.vectors import vectors
from tests.services.installation import ROOT

REPORTS = """
const { messagesOf } = await import("./encodings/encoding.js");
const hex = (bytes) => Buffer.from(bytes).toString("hex");
answer(given.map(({ encoding, table, reports }) => reports.map(({ places, words }) => {
  const source = fixedWords(words.match(/.{16}/g).map((word) => BigInt("0x" + word)));
  const cells = places.map(([x, y]) => ({ x, y }));
  const messages = messagesOf(encoding, Uint8Array.from(Buffer.from(table, "base64")), cells, source);
  return { messages: messages.map(hex).join(""), left: source.left, count: messages.length };
})));
"""
# Each is one line of a module in which a client would go wrong unseen.
FAULTS = {
    "a remainder": ("random_words.js", "if (drawn < end) return drawn % bound;", "return drawn % bound;"),
    "one sign for both axes": (
        "encodings/offsets.js",
        "const along = signed(place % rows, words);",
        "const along = across < 0 ? -(place % rows) : place % rows;",
    ),
    "a draw used twice": (
        "encodings/shares.js",
        "Array.from({ length: count - 1 }, () => uniformBelow(words, modulus))",
        "Array(count - 1).fill(uniformBelow(words, modulus))",
    ),
    "a bit left out": ("encodings/unary.js", "length: places }", "length: places - 1 }"),
    "values cut, not rounded": ("encodings/plane.js", "(2n * top + bottom) / (2n * bottom)", "top / bottom"),
    "shares that are not of the value": ("encodings/shares.js", "left - share, value)", "left - share, 0n)"),
    "no noise": ("encodings/shares.js", "polya(sums, scale, words) - polya(sums, scale, words)", "0n"),
    "x and y exchanged": (
        "encodings/morton.js",
        "((y >>> bit) & 1) * 2 + ((x",
        "((x >>> bit) & 1) * 2 + ((y",
    ),
}


@pytest.fixture(scope="module")
def cases():
    return vectors()


def test_it_makes_the_reports_of_other_clients(node, cases):
    found = node(REPORTS, cases)
    for case, reports in zip(cases, found, strict=True):
        assert [report["messages"] for report in reports] == [one["messages"] for one in case["reports"]]
        assert [report["left"] for report in reports] == [0] * len(reports), case["mechanism"]
        assert {report["count"] for report in reports} == {case["messages"]}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_out(page_copy, cases, fault):
    name, line, broken = FAULTS[fault]
    copy = page_copy()
    text = (copy.folder / name).read_text()
    assert line in text
    (copy.folder / name).write_text(text.replace(line, broken))
    try:
        found = copy.run(REPORTS, cases)
    except AssertionError:
        return  # it ran out of words
    right = [
        [report["messages"] for report in reports] == [one["messages"] for one in case["reports"]]
        and not any(report["left"] for report in reports)
        for case, reports in zip(cases, found, strict=True)
    ]
    assert not all(right)


def test_a_table_of_another_length_is_refused(node, cases):
    program = """
    const { messagesOf } = await import("./encodings/encoding.js");
    const { systemWords } = await import("./random_words.js");
    answer(given.map(({ encoding, table }) => {
      try { messagesOf(encoding, table, [{ x: 0, y: 0 }], systemWords()); return "taken"; }
      catch (error) { return error.message; }
    }));
    """
    given = [
        {"encoding": case["encoding"], "table": {"hex": (base64.b64decode(case["table"]) + bytes(8)).hex()}}
        for case in cases
    ]
    # Tables of numbers of other sizes have no whole number of them, or too many.
    assert all("table" in words for words in node(program, given))


def test_both_clients_of_devices_name_their_files_alike():
    python = {path.stem for path in (ROOT / "clients/device/hazemap_device/encodings").glob("*.py")}
    browser = {path.stem for path in (ROOT / "static/contribute/encodings").glob("*.js")}
    assert python - {"__init__"} == browser
