"""The manual's page that helps to choose a mechanism: its numbers are those of the kept tables."""

import re
from html import escape

import pytest

from docs.manual import measurements
from docs.manual.measured import pictures, sections
from mechanisms.catalogue.registry import get
from mechanisms.reproduction.measurements import SOURCES, table


@pytest.fixture(scope="module")
def figures():
    """Every number of every kept table."""
    return {
        float(cell) for name in SOURCES for row in table(name).rows for cell in row.values() if number(cell)
    }


@pytest.fixture(scope="module")
def page():
    return measurements.parts()["measurements"]


def number(cell):
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)


def test_it_shows_each_kept_table_with_its_command_and_says_where_it_comes_from(page):
    for source in SOURCES.values():
        assert source.command in page
    assert page.count("<figure") == sum(len(section.pictures) for section in sections())
    assert " style=" not in page


def test_each_section_has_its_place_and_every_number_of_its_charts(page):
    for section in sections():
        assert f'<a id="{section.anchor}"></a>\n\n## {section.title}\n' in page
        for numbers in section.numbers:
            for row in numbers.rows:
                cells = "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
                assert f'<tr><th scope="row">{row[0]}</th>{cells}</tr>' in page


def test_every_point_of_every_chart_is_a_number_of_a_kept_table(figures):
    for section in sections():
        for picture in section.pictures:
            for points in picture.lines.values():
                assert {value for point in points for value in point} <= figures
        own = {source.experiment for source in section.sources}
        assert own <= set(SOURCES)
    assert {source.experiment for section in sections() for source in section.sources} == set(SOURCES)


def test_the_choice_is_the_mechanism_with_the_smallest_error():
    choices = sections()[0].choices
    for epsilon, *cells in choices.rows:
        for head, cell in zip(choices.heads[1:], cells, strict=True):
            persons = head.split()[0].replace(",", "")
            rows = pictures.rows_of("heatmap-choice", persons=persons, epsilon=epsilon)
            best = min(rows, key=lambda row: float(row["emd"]))
            assert cell == f"{get(best['mechanism']).title}: {pictures.digits(float(best['emd']))}"


def test_sentences_follow_the_tables(monkeypatch):
    """Another table makes other sentences."""
    said = " ".join(sentence for section in sections() for sentence in section.sentences)
    real = pictures.table

    def doubled(name):
        kept = real(name)
        rows = tuple(
            {**row, **{key: str(2 * float(row[key])) for key in ("emd",) if key in row}} for row in kept.rows
        )
        return type(kept)(source=kept.source, rows=rows)

    monkeypatch.setattr(pictures, "table", doubled)
    other = " ".join(sentence for section in sections.__wrapped__() for sentence in section.sentences)
    errors = pictures.rows_of("heatmap-figure-1", mechanism="adaptive", x="1")
    assert pictures.digits(float(errors[0]["emd"]) / 2) in said
    assert pictures.digits(float(errors[0]["emd"])) in other
    assert said != other


def test_what_a_text_says_of_resolutions_is_so():
    """Two mechanisms hardly change with the resolution, noise in every square does."""
    at = {
        name: {row["x"]: float(row["emd"]) for row in pictures.rows_of("heatmap-figure-7", mechanism=name)}
        for name in ("adaptive", "sparse-emd", "laplace")
    }
    assert at["laplace"]["256"] > 1.1 * at["laplace"]["64"]
    for name in ("adaptive", "sparse-emd"):
        assert abs(at[name]["256"] - at[name]["64"]) < 0.05


def test_the_advice_holds_in_the_table():
    advice = next(sentence for sentence in sections()[0].sentences if sentence.startswith("Take"))
    limit = float(re.search(r"more than ([\d.]+):", advice)[1])
    rows = [
        row
        for row in pictures.rows_of("heatmap-choice")
        if int(row["persons"]) * float(row["epsilon"]) > limit
    ]
    best = {}
    for row in sorted(rows, key=lambda one: float(one["emd"])):
        best.setdefault((row["persons"], row["epsilon"]), row["mechanism"])
    assert set(best.values()) == {"adaptive"}
    assert len(best) >= 10


def test_lines_of_one_section_differ_in_style():
    for section in sections():
        kinds = measurements.line_kinds(section)
        assert len(set(kinds.values())) == len(kinds)
