"""Computes line charts for an SVG of 340 × 250 units; a template draws, the style sheet paints.

Small enough to be read at its own size on a telephone; text is in units of the picture.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from heatmaps.numbers import number

LEFT, RIGHT, TOP, BOTTOM = 46.0, 332.0, 12.0, 206.0
WIDTH, HEIGHT = 340, 250
KINDS: Final = 9  # of lines that the style sheet tells apart
_FEW: Final = 7  # ticks
_LETTER: Final = 7.0  # width of a digit, in units of the picture
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)

Ticks = tuple[tuple[float, str], ...]  # values and their words


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    name: str
    points: tuple[tuple[float, float], ...]
    kind: int = 1  # 1 to KINDS
    marked: tuple[tuple[float, float], ...] | None = None  # points with a marker; None: all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    title: str
    logarithmic: bool = False
    from_zero: bool = False
    ticks: Ticks = ()  # empty: round numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape:
    """Describes a line in units of the picture: the attribute `points`, and where its markers are."""

    name: str
    kind: int
    points: str
    markers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[LineShape, ...]


def chart(title: str, lines: Sequence[Line], *, x: Axis, y: Axis) -> Chart:
    """Draws lines, which have at least one point together; values on a logarithmic axis are above 0."""
    xs, ys = (sorted({point[i] for line in lines for point in line.points}) for i in (0, 1))
    x_ticks = x.ticks or _ticks_at(xs if len(xs) <= _FEW else _ticks(xs[0], xs[-1], x))
    y_ticks = _ticks_at(_ticks(0.0 if y.from_zero else ys[0], ys[-1], y))
    across = _scale(xs, x_ticks, x, start=LEFT, end=RIGHT)
    up = _scale(ys, y_ticks, y, start=BOTTOM, end=TOP)
    return Chart(
        title=title,
        x=x,
        y=y,
        x_ticks=_legible_ticks([Tick(at=across.at(value), text=text) for value, text in x_ticks]),
        y_ticks=tuple(Tick(at=up.at(value), text=text) for value, text in y_ticks),
        lines=tuple(_line_shape(line, across, up) for line in lines),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    low: float
    high: float
    axis: Axis
    start: float
    end: float

    def at(self, value: float) -> str:
        low, high, value = (math.log(v) if self.axis.logarithmic else v for v in (self.low, self.high, value))
        part = (value - low) / (high - low) if high > low else 0.5
        return f"{self.start + part * (self.end - self.start):.1f}"


def _scale(values: Sequence[float], ticks: Ticks, axis: Axis, *, start: float, end: float) -> _Scale:
    low, high = min(values[0], ticks[0][0]), max(values[-1], ticks[-1][0])
    return _Scale(low=low, high=high, axis=axis, start=start, end=end)


def _ticks_at(values: Sequence[float]) -> Ticks:
    return tuple((value, number(value, digits=4)) for value in values)


def _line_shape(line: Line, across: _Scale, up: _Scale) -> LineShape:
    points, markers = (
        tuple((across.at(x), up.at(y)) for x, y in sorted(of))
        for of in (line.points, line.points if line.marked is None else line.marked)
    )
    return LineShape(
        name=line.name, kind=line.kind, points=" ".join(f"{x},{y}" for x, y in points), markers=markers
    )


def _legible_ticks(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Returns the ticks that do not run into the one before."""
    legible: list[Tick] = []
    for tick in ticks:
        room = _LETTER * (len(tick.text) + len(legible[-1].text)) / 2 + _LETTER if legible else 0.0
        if not legible or float(tick.at) - float(legible[-1].at) >= room:
            legible.append(tick)
    return tuple(legible)


def _ticks(low: float, high: float, axis: Axis) -> list[float]:
    """Returns round values between two, on a straight axis around them; at least one."""
    if axis.logarithmic:
        return _round_within(low, high)
    least_step = (high - low) / (_FEW - 2) or 1.0
    power = 10.0 ** math.floor(math.log10(least_step))
    step = next(s * power for s in _STEPS if s * power >= least_step * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def _round_within(low: float, high: float) -> list[float]:
    """Returns as many of 1, 2, 5, 10, … as fit; the middle where none does."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        numbers = [round(step * 10.0**power, 12) for power in powers for step in steps]
        inside = [value for value in numbers if low <= value <= high]
        if len(inside) <= _FEW:
            break
    return inside or [math.sqrt(low * high)]
