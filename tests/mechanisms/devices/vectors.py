"""Makes test vectors for clients: what a device sends for given random words.

`python -m tests.mechanisms.devices.vectors` writes them as JSON.
"""

import base64
import json
import random
import sys
from collections.abc import Iterator
from itertools import chain

from mechanisms.devices import catalogue
from tests.mechanisms.devices.plans import SMALL, plan
from tests.mechanisms.devices.reference import Words, report

_LARGEST = 2**31 - 1
# Finest cells (x, y): corners, the middle, anywhere; and what the first random words are, so that a word
# is drawn again, a uniform cell is reported, or the least or largest noise is drawn.
_CASES: tuple[tuple[tuple[int, int], tuple[int, ...]], ...] = (
    ((0, 0), ()),
    ((_LARGEST, _LARGEST), ()),
    ((1 << 30, 1 << 30), (2**64 - 1,)),
    ((1_234_567_890, 987_654_321), (2**64 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 1)),
    ((987_654_321, _LARGEST), (0, 0, 0, 0, 0, 0)),
    ((5, 2_000_000_000), (2**64 - 1, 2**64 - 2, 1, 2**63)),
)


def vectors() -> list[dict[str, object]]:
    """For every mechanism `encoding`, `table` (base64), and reports.

    A report has `places` (finest cells; several in the last one of `emd-itemwise` and `shuffle-emd`), `words`
    (16 hexadecimal digits each, joined, exactly those that are taken) and `messages` (hexadecimal, joined).
    """
    return [_of(name) for name in SMALL]


def _of(name: str) -> dict[str, object]:
    made = plan(name)
    cases = [([place], first) for place, first in _CASES]
    encoding, table = made.encoding, made.table
    cases.append(([(1 << 29, 1 << 28)], _rare(encoding)))
    if name in ("emd-itemwise", "shuffle-emd"):
        cases.append(([(0, 0), (1 << 30, 1 << 29), (_LARGEST, 7)], ()))
    reports = []
    for number, (places, first) in enumerate(cases):
        words = Words(chain(first, _words(f"{name} {number}")))
        messages = report(encoding, table, places, words)
        reports.append(
            {
                "places": [list(place) for place in places],
                "words": "".join(f"{word:016x}" for word in words.taken),
                "messages": b"".join(messages).hex(),
            }
        )
    return {
        "mechanism": name,
        "trust": str(catalogue.get(name).trust),
        "encoding": encoding,
        "table": base64.b64encode(table).decode(),
        "messages": made.messages,
        "message_bytes": made.message_bytes,
        "reports": reports,
    }


def _rare(encoding: dict) -> tuple[int, ...]:
    """Words for what random ones nearly never ask for: uniform cells, and a cell of the own district."""
    if encoding["kind"] == "offsets":
        return (int(encoding["total"]) - 1,)
    if encoding["kind"] in ("axes", "items"):
        return tuple(int(encoding[axis]["total"]) - 1 for axis in ("across", "along"))
    if encoding["kind"] == "gkrr":
        return (encoding["districts"] * encoding["district_cells"] * int(encoding["far"]),)
    return ()


def _words(seed: str) -> Iterator[int]:
    source = random.Random(seed)
    while True:
        yield source.getrandbits(64)


if __name__ == "__main__":
    json.dump(vectors(), sys.stdout)
