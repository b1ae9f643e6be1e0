"""The manual's page of growing cost: its numbers are those of the kept file, its goals those of the bench."""

import json
import re

import pytest

from docs.manual import growth
from tests.benchmarks.goals import GOALS


@pytest.fixture
def kept():
    return json.loads(growth.FILE.read_text())


@pytest.fixture
def other(monkeypatch, kept):
    """Parts of the same file with other numbers in it."""

    def parts(**changes):
        monkeypatch.setattr(growth, "document", lambda: kept | changes)
        return growth.parts()

    return parts


def cells(text):
    """Rows of the first table without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_kept_goals_are_those_of_the_bench(kept):
    assert kept["goals"]
    assert {row["goal"]: row["most"] for row in kept["goals"]} == {
        row["goal"]: GOALS[row["goal"]].most for row in kept["goals"]
    }


def test_every_kept_goal_is_in_the_table_beside_its_figure(kept, other):
    rows = [row | {"most": 7.5, "ratio": 0.25, "low": 0.25, "high": 0.25} for row in kept["goals"]]

    table = cells(other(goals=rows)["speed goals"])

    assert [row[0] for row in table] == [row["name"] for row in kept["goals"]]
    assert {tuple(row[-2:]) for row in table} == {("0.25", "7.5")}


def test_noise_is_in_brackets(kept, other):
    noisy = kept["goals"][0] | {"ratio": 2.0, "low": 1.5, "high": 2.5}
    assert cells(other(goals=[noisy])["speed goals"])[0][-2] == "2 (1.5 to 2.5)"


def test_what_was_measured_is_planned_as_it_is_and_what_was_not_follows_from_the_two_largest(other):
    few = {"csv seconds": 2.0, "csv megabytes": 100.0, "parquet seconds": 2.0, "parquet megabytes": 90.0}
    cost = {"csv seconds": 3.0, "csv megabytes": 200.0, "parquet seconds": 2.0, "parquet megabytes": 300.0}
    more = cost | {"csv seconds": 30.0, "csv megabytes": 800.0}

    rows = [{"check-ins": 10**4} | few, {"check-ins": 10**5} | cost, {"check-ins": 10**6} | more]
    plan = cells(other(rows=rows)["growth planned"])

    assert [row[0] for row in plan] == [f"10^{power}" for power in range(5, 11)]
    assert [row[-1] for row in plan[:3]] == ["3 s, 200 MB", "30 s, 800 MB", "about 5 min, 6.8 GB"]
    assert all("lake.md" in row[1] for row in plan[4:])
    assert not any("lake.md" in row[1] for row in plan[:4])


def test_disk_is_rows_and_copies(kept, other):
    row = {"check-ins": 10**5, "seconds": 2.0, "megabytes": 400.0, "megabytes at rest": 300.0}
    servers = [
        row | {"postgresql": 0, "bytes": 50.0, "bytes of copies": 0.0},
        row | {"postgresql": 1, "bytes": 90.0, "bytes of copies": 10.0},
    ]

    parts = other(servers=servers)

    plan = {each[0]: each for each in cells(parts["growth planned"])}
    assert plan["10^6"][3] == growth.size(50 * 10**6)
    assert plan["10^8"][3] == growth.size(100 * 10**8)
    assert plan["10^6"][4] == "20 s"
    assert "90 bytes, 10 of a copy in columns" in parts["growth of databases"]


def test_the_charts_have_a_line_for_each_kind_of_file(kept, other):
    drawn = other()["growth charts"]
    assert drawn.count("<figure") == 2
    assert drawn.count("<polyline") == 2 * 2 + 2  # and those of the legend
    assert len(cells(re.sub(r"<[^>]+>", "", drawn))) == len(kept["rows"])


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0123, "12 ms"), (1.54, "1.5 s"), (99, "99 s"), (600, "10 min"), (57_600, "16 h")],
)
def test_a_time_has_the_unit_that_fits(value, words):
    assert growth.seconds(value) == words
