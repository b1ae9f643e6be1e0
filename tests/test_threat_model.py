"""What the documents promise is held by tests that exist; every line of the threat model names one."""

import re

import pytest

from tests.named import ROOT, is_there, named_in

DOCUMENTS = {
    str(path.relative_to(ROOT / "docs")): path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))
}
MODEL = DOCUMENTS["explanation/threat-model.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_is_named_is_there(document):
    assert [one for one in named_in(DOCUMENTS[document]) if not is_there(*one)] == []


def test_a_test_that_is_not_there_is_found():
    assert not is_there("tests/test_threat_model.py", "test_of_nothing")
    assert not is_there("tests/named.py", "")
    assert not is_there("tests/test_nothing.py", "")


def test_every_line_names_a_test():
    tables = re.findall(r"^\|.* held by \|\n\|(?: --- \|)+\n((?:\|.*\n)+)", MODEL, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(tables) == MODEL.count("| --- | --- |\n")
    assert len(rows) > 70
    unheld = [line for line in rows if not named_in(line.rpartition(" | ")[2])]
    assert [line for line in unheld if not line.endswith("| open |")] == []
    assert all(line in _section("What goes back") for line in unheld)


def test_what_stays_unprotected_is_said_of_each():
    stated = _section("What stays unprotected")
    for topic in (
        "Latency",
        "Late.",
        "Postponed",
        "size class",
        "Versions and files",
        "under `replace`",
        "old datasets",
        "Several datasets",
        "Administrators",
        "logs",
    ):
        assert topic in stated, topic


def _section(title):
    return MODEL.partition(f"## {title}\n")[2].partition("\n## ")[0]
