"""The page that helps to choose a mechanism: its numbers are those of the kept tables."""

import re

import pytest
from django.urls import reverse

from heatmaps.views import charts, measurements
from heatmaps.views.charts import Axis, Line, chart
from heatmaps.wording.measured import pictures, sections
from mechanisms.catalogue.registry import get
from mechanisms.reproduction.measurements import SOURCES, table
from tests.pages.word_count import words_of


@pytest.fixture(scope="module")
def figures():
    """Every number of every kept table."""
    return {
        float(cell) for name in SOURCES for row in table(name).rows for cell in row.values() if number(cell)
    }


def pages_of(client):
    addresses = [reverse("help-measurement", args=[section.anchor]) for section in sections()]
    return [client.get(address).content.decode() for address in addresses]


def number(cell):
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)


def test_it_shows_each_kept_table_with_its_command_and_says_where_it_comes_from(client_of):
    page = "".join(pages_of(client_of("stranger")))
    for source in SOURCES.values():
        assert source.command in page
    assert page.count("<svg viewBox") == page.count('role="img"') + page.count('aria-hidden="true" focusable')
    assert page.count("<figure") == sum(len(section.pictures) for section in sections())
    assert " style=" not in page


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


def test_it_is_linked_from_the_help_and_where_a_mechanism_is_chosen(client_of, dataset):
    address = reverse("help-mechanisms")
    for name, arguments in (("help", []), ("release-new", [dataset.slug])):
        page = client_of("analyst").get(reverse(name, args=arguments), {"open": "method"}).content.decode()
        assert f'href="{address}"' in page
    assert address not in client_of("anonymous").get(reverse("help")).content.decode()


def test_a_chart_puts_points_where_they_belong():
    line = Line(name="a", points=((1.0, 0.1), (10.0, 1.0), (100.0, 10.0)))
    straight = chart("t", [line], x=Axis(title="x", logarithmic=True), y=Axis(title="y", logarithmic=True))
    (drawn,) = straight.lines
    assert drawn.markers[0] == (f"{charts.LEFT:.1f}", f"{charts.BOTTOM:.1f}")
    assert drawn.markers[2] == (f"{charts.RIGHT:.1f}", f"{charts.TOP:.1f}")
    middle = (f"{(charts.LEFT + charts.RIGHT) / 2:.1f}", f"{(charts.TOP + charts.BOTTOM) / 2:.1f}")
    assert drawn.markers[1] == middle
    assert [tick.text for tick in straight.y_ticks] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]
    plain = chart("t", [line], x=Axis(title="x"), y=Axis(title="y", from_zero=True))
    assert [tick.text for tick in plain.y_ticks] == ["0", "2", "4", "6", "8", "10"]
    assert plain.y_ticks[0].at == f"{charts.BOTTOM:.1f}"


def test_names_of_ticks_do_not_run_into_each_other():
    line = Line(name="a", points=((0.02, 1.0), (0.05, 2.0), (0.75, 3.0)))
    drawn = chart("t", [line], x=Axis(title="x"), y=Axis(title="y"))
    assert [tick.text for tick in drawn.x_ticks] == ["0.02", "0.75"]


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


def test_lines_of_one_section_are_told_apart():
    for one in measurements.measured_sections():
        assert len(set(one.kinds.values())) == len(one.kinds)


def test_every_table_that_scrolls_has_a_name_of_its_own(client_of):
    for page in pages_of(client_of("analyst")):
        names = re.findall(r'role="region" aria-label="([^"]+)"', page)
        assert len(names) == len(set(names)) == page.count('class="scroll"') > 0


def test_each_measurement_has_a_short_page_and_its_old_link(client_of):
    client = client_of("analyst")
    index = client.get(reverse("help-mechanisms")).content.decode()
    assert len(words_of(index)) <= 250
    for section, page in zip(sections(), pages_of(client), strict=True):
        address = reverse("help-measurement", args=[section.anchor])
        assert f'<a id="{section.anchor}" href="{address}">' in index
        assert len(words_of(page)) <= 600  # most of them numbers
    assert client.get(reverse("help-measurement", args=["nothing"])).status_code == 404
