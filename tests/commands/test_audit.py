"""`manage.py audit`: honest claims stand, a planted fault is refuted with exit code 1.

Power: with half the noise at ε = 2 the audit of 4,000 draws a side sees a loss above 2 (its own tests
state the figures); honest mechanisms are bounded above 0.7, so the bound is no idle 0.
"""

import dataclasses
import io
import json

import pytest
from django.core.management import CommandError, call_command

from mechanisms import catalogue
from mechanisms.central.laplace import Laplace

QUICK = ("--epsilon", "2", "--draws", "4000", "--resolution", "4")


class HalfNoise(Laplace):
    __slots__ = ()

    @property
    def scale(self):
        return Laplace.scale.fget(self) / 2


@pytest.fixture
def planted(monkeypatch):
    faulty = dataclasses.replace(catalogue.get("laplace"), mechanism=HalfNoise)
    monkeypatch.setattr(catalogue, "_ENTRIES", (faulty,))


def run(*arguments):
    """(stdout, stderr, why it ended with exit code 1 if it did)"""
    out, err, refused = io.StringIO(), io.StringIO(), ""
    try:
        call_command("audit", *arguments, stdout=out, stderr=err)
    except CommandError as error:  # manage.py turns it into exit code 1
        refused = str(error)
    return out.getvalue(), err.getvalue(), refused


@pytest.mark.parametrize("name", ["laplace", "laplace-top", "sparse-emd"])
def test_it_finds_honest_claims_standing_for_each_relation(name):
    out, err, refused = run(name, *QUICK, "--json")
    rows = json.loads(out)["rows"]
    assert [row["relation"] for row in rows] == ["add_remove", "replace"]
    for row in rows:
        assert (row["mechanism"], row["epsilon"], row["claim"], row["delta"]) == (name, "2", 2.0, 0.0)
        assert 0.7 < row["lower_bound"] <= 2
        assert (row["draws"], row["confidence"], row["exceeded"]) == (4000, 1 - 1e-6, False)
    assert (refused, err) == ("", "")


def test_it_ends_with_1_on_a_planted_fault(planted):
    out, _, refused = run("laplace", *QUICK)
    assert refused == "2 of 2 claims of laplace are refuted"
    header, *rows, note = out.splitlines()
    assert header.split() == ["mechanism", "relation", "epsilon", "claim", "lower", "bound", "verdict"]
    for row in rows:
        assert float(row.split()[4]) > float(row.split()[3]) == 2
        assert row.endswith("REFUTED: it costs more than it claims")
    assert "1e-06 (4000 draws" in note


def test_it_prints_json_on_a_planted_fault_too(planted):
    out, _, refused = run("laplace", *QUICK, "--json")
    assert [row["exceeded"] for row in json.loads(out)["rows"]] == [True, True]
    assert refused


def test_it_takes_several_epsilons_and_parameters():
    arguments = ("--epsilon", "0.5", "1", "--draws", "100", "--parameter", "width=4", "--json")
    out, _, _ = run("sparse-emd", *arguments)
    assert [row["epsilon"] for row in json.loads(out)["rows"]] == ["0.5", "1", "0.5", "1"]


def test_it_says_how_far_it_has_come(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _, err, _ = run("laplace", "--draws", "100", "--resolution", "4")
    assert err == "draw 400 of 400\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["blur"], "mechanism is blur, allowed: sparse-emd"),
        (["laplace", "--epsilon", "0"], "epsilon is 0"),
        (["laplace", "--epsilon", "21"], "epsilon is 21"),
        (["laplace", "--draws", "99"], "draws is 99"),
        (["laplace", "--draws", "1e9"], "draws is 1e9"),
        (["laplace", "--resolution", "2"], "resolution is 2"),
        (["laplace", "--resolution", "32"], "resolution is 32"),
        (["laplace", "--parameter", "width=4"], "width"),
    ],
)
def test_it_refuses_before_it_draws(arguments, complaint):
    out, err, refused = run(*arguments)
    assert complaint in refused
    assert (out, err) == ("", "")
