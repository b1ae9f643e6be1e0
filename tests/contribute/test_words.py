"""The page's figures and sentences, from the vectors that the other client reads, too."""

import json

import pytest

from tests.contribute.node import ROOT
from tests.contribute.rounds import Round

CASES = json.loads((ROOT / "tests" / "clients" / "together.json").read_text())
TOGETHER = """
const { number, together } = await import("./words.js");
answer(given.map(({ reports }) => together(
  reports.map(([round, epsilon, delta]) => ({ round, epsilon: number(epsilon), delta: number(delta) })))));
"""
SENTENCES = """
const { lossSentences } = await import("./words.js");
answer(given.map((facts) => lossSentences(facts).join(" ")));
"""
LISTED = """
const { odometerWords } = await import("./device_list.js");
answer(given.map((reports) => odometerWords(
  reports.map(([round, epsilon, delta]) => ({ round, loss: { epsilon, delta, radius_m: "600" } })))));
"""


def test_costs_of_several_reports_are_those_of_the_vectors(node):
    for found, case in zip(node(TOGETHER, CASES), CASES, strict=True):
        assert found == pytest.approx({key: case[key] for key in ("epsilon", "delta")}, rel=1e-9)


def test_the_list_says_what_is_lost_together(node):
    said = node(LISTED, [case["reports"] for case in CASES])
    assert "ε 1, δ 0.00000265 (1 in 370,000)" in said[1]
    assert "no useful limit" in said[5]
    assert "δ 1.00: no promise" in said[5]
    assert "δ" not in said[7]


def test_sentences_say_who_has_to_be_trusted_and_what_several_reports_cost(node):
    def facts(mechanism, **changes):
        return {**json.loads(Round(mechanism).text), **changes}

    one = {"operator": "City"}
    said = node(SENTENCES, [
        facts("planar-geometric"),
        facts("sgdl-shuffle", reports_per_person=2),
        facts("sgdl-shuffle", analyser=one, shuffler=one),
        facts("sgdl-shuffle", open_link=True),
    ])  # fmt: skip
    assert "has checked these numbers" in said[0]
    assert "cannot check these numbers" in said[1]
    assert "together may miss it with a chance of at most 1 in 260,000" in said[1]
    assert "100 reports of people" in said[1]
    assert "your device’s own blur is left: a report changes the odds by at most a factor of" in said[1]
    assert "without a useful limit anywhere else." in said[1]
    for promised_alone in said[2:]:
        assert "own blur alone" in promised_alone
        assert "This needs" not in promised_alone
