"""What the documents of the repository name is there."""

import re

import pytest

from tests.services.installation import ROOT

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "mechanisms" / "README.md"],
    key=str,
)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
IMAGE = re.compile(r"""\b(?:src|srcset)="([^":]+)\"""")
PATH = re.compile(r"`((?:api|docs|heatmaps|mechanisms|templates|tests|static)/[\w./-]+)`")


def named(path):
    """Files and folders that a document links to or names from the root; NAME stands for any."""
    text = path.read_text()
    linked = [(path.parent / link).resolve() for link in LINK.findall(text) + IMAGE.findall(text)]
    told = [ROOT / name for name in PATH.findall(text) if "NAME" not in name]
    return [*linked, *told]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_is_there(path):
    assert [str(each) for each in named(path) if not each.exists()] == []


def test_a_file_that_is_not_there_is_found(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(
        '<img src="no.png"> [law](law.md) and `heatmaps/no_such_file.py` and `heatmaps/NAME.py`'
    )
    assert [each.name for each in named(document)] == ["law.md", "no.png", "no_such_file.py"]


def test_the_readme_is_a_page_with_three_pictures():
    text = (ROOT / "README.md").read_text()
    words = re.sub(r"```.*?```|<[^>]+>", "", text, flags=re.DOTALL).split()

    assert len(words) <= 900
    assert text.count("<picture>") == len(re.findall(r"<img ", text)) == 3
    assert "![" not in text


def test_every_document_of_the_manual_is_in_its_contents():
    contents = (ROOT / "docs/manual/mkdocs.yml").read_text()
    named = set(re.findall(r"[\w/-]+\.md", contents))
    assert named == {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


@pytest.mark.parametrize("name", ["LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_a_visitor_finds_what_he_expects(name):
    assert (ROOT / name).stat().st_size > 500
