"""Shows measured accuracy of mechanisms, as charts with their numbers."""

from dataclasses import dataclass
from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps.views.charts import KINDS, Axis, Chart, Line, chart
from heatmaps.wording.measured import Numbers, Picture, Section, sections


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSection:
    """Holds a section with its charts; `kinds` are the lines of all of them, by name."""

    section: Section
    charts: tuple[Chart, ...]
    kinds: dict[str, int]
    numbers: tuple[Numbers, ...]


@require_safe
def mechanisms_page(request: HttpRequest) -> HttpResponse:
    first, *_ = sections()
    context = {
        "section": "help",
        "sections": sections(),
        "choices": first.choices,
        "advice": first.sentences[:2],
    }
    return render(request, "help/mechanisms.html", context)


@require_safe
def measurement_page(request: HttpRequest, anchor: str) -> HttpResponse:
    """Shows one section with its charts and numbers."""
    measured = next((row for row in measured_sections() if row.section.anchor == anchor), None)
    if measured is None:
        raise Http404("no such measurement")
    return render(request, "help/measurement.html", {"section": "help", "measured": measured})


@cache
def measured_sections() -> tuple[MeasuredSection, ...]:
    """Draws all sections once: kept tables do not change while the program runs."""
    return tuple(_measured_section(section) for section in sections())


def _measured_section(section: Section) -> MeasuredSection:
    names = dict.fromkeys(name for picture in section.pictures for name in picture.lines)
    kinds = {name: 1 + number % KINDS for number, name in enumerate(names)}
    return MeasuredSection(
        section=section,
        charts=tuple(_chart(picture, kinds) for picture in section.pictures),
        kinds=kinds,
        numbers=section.numbers,
    )


def _chart(picture: Picture, kinds: dict[str, int]) -> Chart:
    lines = [Line(name=name, points=points, kind=kinds[name]) for name, points in picture.lines.items()]
    across, up = picture.logarithmic
    return chart(
        picture.title,
        lines,
        x=Axis(title=picture.x, logarithmic=across),
        y=Axis(title=picture.y, logarithmic=up, from_zero=not up),
    )
