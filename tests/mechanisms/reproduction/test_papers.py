"""The tables of `mechanisms/README.md` that say where each statement of the papers is."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from mechanisms.catalogue import local
from mechanisms.catalogue.registry import entries
from mechanisms.reproduction.registry import EXPERIMENTS

ROOT = Path(__file__).parents[3]
README = ROOT / "mechanisms" / "README.md"
HEAD = "| there | what it says | file | test | command |"


def numbered(kind, *numbers):
    return [f"{kind} {number}" for number in numbers]


def chapter(number, last):
    return [f"{number}.{i}" for i in range(1, last + 1)]


# What has a number in each paper, read off the papers themselves.
PAPERS = {
    "Ghazi": [
        *numbered("Theorem", "1.1", "3.1", "C.1", "D.1"),
        *numbered("Lemma", "2.1", "2.2", *chapter("3", 5)[1:], *chapter("B", 4), "C.2"),
        *numbered("Corollary", "A.1", "A.2", "B.5", "D.2"),
        *numbered("Definition", "2.1", "2.2", "3.1", "3.2", "A.1"),
        *numbered("Algorithm", 1, 2),
        *numbered("Figure", *range(1, 14)),
    ],
    "Athanasiou": [
        *numbered(
            "Theorem", "2.2", "3.1", "3.2", "4.1", "5.1", "7.1", "7.2", *chapter("A", 3), *chapter("B", 3)
        ),
        *numbered("Theorem", "D.1", *chapter("F", 3)),
        *numbered("Lemma", "2.1", "B.5", "B.6", "C.1"),
        *numbered("Proposition", *range(1, 8)),
        *numbered("Corollary", 1, 2),
        *numbered("Claim", *chapter("A", 5), "B.1"),
        *numbered("Algorithm", *range(1, 9)),
        *numbered("Figure", *range(1, 30)),
        *numbered("Table", 1, 2, 3),
    ],
    "Imola": [
        *numbered("Theorem", *chapter("1", 3), "4.1", "4.3", "4.4", "5.3", "6.5", "6.6"),
        *numbered("Lemma", "2.1", "4.2", "5.2", *chapter("6", 4), "6.7", "A.1", "A.2", *chapter("B", 5)),
        *numbered("Definition", *chapter("2", 4), "3.1", "3.2", "5.1", "5.2", "A.1"),
        *numbered("Fact", "5.1"),
        *numbered("Corollary", "6.8"),
        *numbered("Algorithm", *range(1, 5)),
        *numbered("Table", 1, 2),
    ],
    "Boedihardjo": [
        *numbered("Theorem", "1.5", "1.7", "3.1", "3.2", "4.2", "5.1", *chapter("6", 4)),
        *numbered("Lemma", *chapter("2", 7)[4:], "2.15", "4.1", *chapter("5", 4)[1:], "A.1"),
        *numbered("Proposition", "2.4", "2.9", "2.11", "2.12", "2.14"),
        *numbered("Definition", "1.1", "1.2", "1.4", "1.6", "2.8", "2.10"),
        *numbered("Fact", *chapter("2", 3)),
    ],
}


def tables():
    """{author: rows of five cells}, in the order of the README."""
    found = {}
    for part in README.read_text(encoding="utf-8").split("\n### ")[1:]:
        lines = part.split("\n## ")[0].splitlines()
        if HEAD in lines:
            rows = [line.split("|")[1:-1] for line in lines[lines.index(HEAD) + 2 :] if line[:1] == "|"]
            author = next(name for name in PAPERS if name in lines[0])
            found[author] = [[cell.strip() for cell in row] for row in rows]
    return found


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def rows():
    found = tables()
    assert all(len(row) == 5 for several in found.values() for row in several)
    return found


def statements(cell):
    """ "Lemma 2.1, 3.2–3.4" as Lemma 2.1, Lemma 3.2, Lemma 3.3 and Lemma 3.4."""
    kind = ""
    for item in cell.split(","):
        *words, number = item.split()
        kind = " ".join(words) or kind
        first, _, last = number.partition("–")
        chapter, dot, low = first.rpartition(".")
        high = (last or first).rpartition(".")[2]
        several = range(int(low), int(high) + 1) if last else [low]
        yield from (f"{kind} {chapter}{dot}{i}".strip() for i in several)


def test_ranges_of_statements_are_read_in_full():
    assert list(statements("§3, Figure 9, 11–12, Lemma A.2–A.3")) == [
        *("§3", "Figure 9", "Figure 11", "Figure 12", "Lemma A.2", "Lemma A.3")
    ]


@pytest.mark.parametrize("author", PAPERS)
def test_every_number_of_the_paper_has_its_row(rows, author):
    listed = [item for there, *_ in rows[author] for item in statements(there)]
    assert set(PAPERS[author]) - set(listed) == set()
    assert {item for item in listed if not item.startswith("§")} - set(PAPERS[author]) - REMARKS == set()
    assert len(listed) == len(set(listed))


REMARKS = {"Remark 2.13", "Remark 6.5", "Remark B.4", "Remark B.7"}


@pytest.mark.parametrize("author", PAPERS)
def test_files_and_tests_exist(rows, author):
    for there, _, files, tests, _ in rows[author]:
        for name in names(files):
            assert (ROOT / "mechanisms" / name).is_file(), f"{there}: {name}"
        for name in names(tests):
            places = [ROOT / "tests" / name, ROOT / "tests" / "mechanisms" / name]
            assert any(place.is_file() for place in places), f"{there}: {name}"


@pytest.mark.parametrize("author", PAPERS)
def test_commands_exist(rows, author):
    commands = get_commands()
    audited = {entry.name for entry in entries()} | set(local.names().split(", "))
    for there, _, _, _, cell in rows[author]:
        for command in names(cell):
            verb, *rest = command.split()
            assert verb in commands, f"{there}: {command}"
            known = {"reproduce": EXPERIMENTS, "audit": audited}.get(verb, {})
            assert set(rest) <= set(known), f"{there}: {command}"


@pytest.mark.parametrize("author", PAPERS)
def test_what_has_neither_file_nor_test_says_why(rows, author):
    for there, words, files, tests, _ in rows[author]:
        if not names(files) and files != "the same":
            assert re.search(r"Not |nothing to compute", words), there
        elif not names(tests) and tests != "the same":
            assert "notation" in words, there


def test_every_mechanism_has_its_row_with_file_and_test():
    text = README.read_text(encoding="utf-8")
    table = text.partition("| name | file | guarantee | theorem | test |")[2].partition("\n\n")[0]
    found = [line.split("|")[1:-1] for line in table.splitlines()[2:]]
    listed = {names(row[0])[0] for row in found}
    assert {entry.name for entry in entries()} | set(local.names().split(", ")) <= listed
    for _, files, _, _, tests in found:
        assert names(files)
        assert names(tests), files
        assert all((ROOT / "mechanisms" / name).is_file() for name in names(files)), files
        assert all((ROOT / "tests" / "mechanisms" / name).is_file() for name in names(tests)), tests


def test_it_stays_an_index():
    assert len(README.read_text(encoding="utf-8").split()) < 3000


def test_every_experiment_is_in_a_table_or_about_more_than_one_paper(rows):
    shown = {name for found in rows.values() for row in found for name in names(row[4])}
    assert {f"reproduce {name}" for name in EXPERIMENTS} <= shown
