"""Writes the manual's page of measured accuracy: sentences, charts and their numbers, by section."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from django.template.loader import render_to_string

from docs.manual.measured import Numbers, Picture, Section, sections
from docs.manual.reference import plain, table
from heatmaps.views.charts import KINDS, Axis, Chart, Line, chart
from mechanisms.reproduction.measurements import TableSource

_LINE: Final = (
    '<svg viewBox="0 0 28 10" aria-hidden="true" focusable="false" class="chart-line kind-{kind}">'
    '<polyline points="0,5 28,5"/><circle cx="14" cy="5" r="3"/></svg>'
)


def parts() -> dict[str, str]:
    """Returns the generated parts by the name that a page asks for."""
    return {"measurements": "\n\n".join(_section(section) for section in sections())}


def line_kinds(section: Section) -> dict[str, int]:
    """Returns the style of each line of a section's charts, 1 to `KINDS`, by the line's name."""
    names = dict.fromkeys(name for picture in section.pictures for name in picture.lines)
    return {name: 1 + number % KINDS for number, name in enumerate(names)}


def drawing(picture: Picture, kinds: dict[str, int]) -> Chart:
    """Returns a picture's chart in units of the SVG that the template draws."""
    lines = [Line(name=name, points=points, kind=kinds[name]) for name, points in picture.lines.items()]
    across, up = picture.logarithmic
    return chart(
        picture.title,
        lines,
        x=Axis(title=picture.x, logarithmic=across),
        y=Axis(title=picture.y, logarithmic=up, from_zero=not up),
    )


def legend(kinds: Mapping[str, int]) -> str:
    """Returns the list of lines with their styles, by name."""
    key = "".join(f"<li>{_LINE.format(kind=kind)}{plain(name)}</li>" for name, kind in kinds.items())
    return f'<ul class="chart-key" aria-label="Lines">{key}</ul>'


def _section(section: Section) -> str:
    kinds = line_kinds(section)
    charts = "".join(
        _one_line(render_to_string("parts/chart.html", {"chart": drawing(picture, kinds)}))
        for picture in section.pictures
    )
    return "\n\n".join(
        (
            f'<a id="{section.anchor}"></a>',
            f"## {section.title}",
            *(plain(sentence) for sentence in section.sentences),
            *(_table(numbers) for numbers in (section.choices,) if numbers is not None),
            f'<div class="charts">{charts}</div>',
            legend(kinds),
            f"<details><summary>The numbers</summary>{''.join(map(_html_table, section.numbers))}</details>",
            _sources(section.sources),
        )
    )


def _one_line(html: str) -> str:
    # Markdown ends a block of HTML at the first empty line.
    return " ".join(html.split())


def _table(numbers: Numbers) -> str:
    return f"**{plain(numbers.title)}**\n\n{table(numbers.heads, numbers.rows)}"


def _html_table(numbers: Numbers) -> str:
    # Inside of HTML, Markdown is not read.
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in numbers.heads)
    rows = "".join(_row(*row) for row in numbers.rows)
    caption = f"<caption>{escape(numbers.title)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(head: str, *cells: str) -> str:
    columns = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(head)}</th>{columns}</tr>'


def _sources(sources: Iterable[TableSource]) -> str:
    lines = (f"`{source.command}`, {source.measured_on:%-d %B %Y}, {source.data}" for source in sources)
    return f"Measured by {'; '.join(lines)}."
