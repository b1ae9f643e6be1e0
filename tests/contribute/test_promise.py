"""The page computes what a report costs as the other client does, and refuses the same lies."""

import pytest

from tests.clients.promises import LIES, NO_LAWS, SIZES, anything, honest, largest
from tests.clients.rounds import Round, items, numbers, shares, unary
from tests.mechanisms.devices.plans import REGION

LOSSES = """
const { losses } = await import("./promise.js");
answer(given.map(([encoding, table, widthM, heightM, radiusM]) =>
  losses(encoding, table, { widthM, heightM, radiusM })));
"""
CHECKED = """
const { checkPromise } = await import("./promise.js");
const { readFacts } = await import("./facts.js");
answer(given.map(([facts, table]) => {
  const read = readFacts(facts);
  try { checkPromise(read, table); return "kept"; } catch (error) { return error.code ?? error.message; }
}));
"""


def promised(encoding, table, near, anywhere, radius_m=12_000):
    loss = {"epsilon": near, "record_epsilon": anywhere, "radius_m": radius_m, "delta": 0}
    texts = {name: str(value) for name, value in loss.items()}
    made = Round((encoding, table, 1, 4), changes={"loss": texts, "region": [repr(edge) for edge in REGION]})
    return [{"hex": made.content.hex()}, {"hex": table.hex()}]


def test_losses_are_those_of_all_pairs_of_cells(node):
    cases = [(*case, radius_m) for case in anything() for radius_m in (0, 9000)]
    given = [[encoding, {"hex": table.hex()}, *SIZES.values(), radius] for encoding, table, radius in cases]
    for found, case in zip(node(LOSSES, given), cases, strict=True):
        assert (found["near"], found["anywhere"]) == pytest.approx(largest(*case), rel=1e-12)


def test_honest_rounds_keep_what_they_promise_and_lies_are_found(node):
    given, expected = [], []
    for encoding, table, near, anywhere, radius_m in honest():
        given += [promised(encoding, table, near, anywhere, radius_m)]
        given += [promised(encoding, table, near, anywhere * 6 / 10, radius_m)]
        expected += ["kept", "false_promise"]
    for encoding, table in LIES.values():
        given += [promised(encoding, table, *claimed) for claimed in ((1000, 20), (2, "inf"), ("inf", "inf"))]
        expected += ["false_promise", "false_promise", "kept"]
    given += [promised(*case, "inf", "inf") for case in NO_LAWS.values()]
    expected += ["false_promise"] * len(NO_LAWS)
    assert node(CHECKED, given) == expected


def test_a_shuffled_table_that_is_no_law_is_refused(node):
    given, expected = [], []
    for kind, change in (
        (unary, lambda table: bytes(len(table))),
        (unary, lambda table: table[2:4] + table[:2] + table[4:]),
        (items, lambda table: table[8:16] + table[:8] + table[16:]),
        (items, lambda table: numbers(8000) * 8 + table[64:]),
        (shares, lambda table: table[:4] + table[4:6] * 2),
    ):
        made = Round(kind())
        given += [
            [{"hex": made.content.hex()}, {"hex": one.hex()}] for one in (made.table, change(made.table))
        ]
        expected += ["kept", "false_promise"]
    assert node(CHECKED, given) == expected
