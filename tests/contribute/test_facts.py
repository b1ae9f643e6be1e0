"""Facts are read in their one spelling, with what docs/explanation/collections.md lists and nothing else."""

import json
import re

import pytest

from tests.clients.bad_facts import all_of_them
from tests.contribute.node import ROOT
from tests.contribute.rounds import Round, canonical
from tests.mechanisms.devices.plans import SMALL

READ = """
const { readFacts } = await import("./facts.js");
answer(given.map((bytes) => {
  try { return readFacts(bytes).round; } catch (error) { return error.name; }
}));
"""


@pytest.fixture(scope="module")
def found():
    return Round()


def read(node, texts):
    return node(READ, [{"hex": text.hex()} for text in texts])


def test_it_reads_the_rounds_of_every_mechanism(node):
    rounds = [Round(mechanism) for mechanism in SMALL]
    assert read(node, [one.text for one in rounds]) == [one.id for one in rounds]


def test_it_refuses_any_other_spelling(node, found):
    text, facts = found.text, json.loads(found.text)
    others = [
        json.dumps(facts, sort_keys=True).encode(),
        json.dumps(dict(reversed(facts.items())), separators=(",", ":")).encode(),
        json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(),
        text + b"\n",
        text.replace(b'"number":3', b'"number":3.0'),
        text.replace(b'"number":3', b'"number":3e0'),
        text.replace(b'"number":3', b'"number":2,"number":3'),
        text.replace(b'"number":3', b'"number":9007199254740993'),
        text.replace(b"\\u00fc", b"\\u00FC"),
        b"[]",
        b"",
    ]
    assert text not in others
    assert read(node, others) == ["FactsError"] * len(others)


def test_it_refuses_what_is_missing_unknown_or_of_another_kind(node, found):
    facts, texts = json.loads(found.text), []
    for key in facts:
        texts += [canonical({name: value for name, value in facts.items() if name != key})]
        texts += [canonical(facts | {key: wrong}) for wrong in (-1, [], {}, None)]
    texts += [canonical(facts | {"more": 1})]
    for key in facts["encoding"]:
        texts += [canonical(facts | {"encoding": facts["encoding"] | {key: "x"}})]
    texts += [
        canonical(facts | changes)
        for changes in (
            {"messages": 2},
            {"message_bytes": 5},
            {"version": 2},
            {"closes_at": facts["opens_at"]},
            {"region": ["13.6", "52.4", "13.2", "52.6"]},
            {"region": ["-181", "52.4", "13.2", "52.6"]},
            {"analyser": facts["analyser"] | {"key": facts["analyser"]["key"][:-1] + "_"}},
            {"analyser": facts["analyser"] | {"url": "javascript:alert(1)"}},
            {"encoding": {"kind": "constructor"}},
        )
    ]
    assert set(read(node, texts)) == {"FactsError"}


def test_it_refuses_what_the_other_client_refuses(node):
    bad = dict(all_of_them())
    found = read(node, bad.values())
    assert ", ".join(name for name, told in zip(bad, found, strict=True) if told != "FactsError") == ""


def test_it_reads_the_keys_that_the_protocol_lists(found):
    """The table of docs/explanation/collections.md, the facts here and the page name the same keys."""
    section = (ROOT / "docs/explanation/collections.md").read_text().split("## Facts")[1].split("## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = {key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)}
    assert listed == set(json.loads(found.text))


def test_letters_are_written_as_python_writes_them(node):
    program = """
    const { canonical } = await import("./canonical_json.js");
    answer(given.map(canonical));
    """
    texts = ["".join(map(chr, range(256))), "\u2028\ud83d\ude00 \U0001f600", "é"]
    values = [*texts, {"b": [1, -7, True, {}], "a": [[], "x"]}, 2**53 - 1]
    expected = [json.dumps(value, sort_keys=True, separators=(",", ":")) for value in values]
    assert node(program, values) == expected
    assert node(program, [0.5, None, 2**53, {"a": [None]}]) == [None] * 4
