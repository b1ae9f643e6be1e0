"""Draws what was taken of an account over time as a chart of steps, with its limit."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from heatmaps.budget.history import BudgetStep, History
from heatmaps.ledger.amounts import units_per_one
from heatmaps.views.charts import Axis, Chart, Line, chart

TAKEN, LIMIT = 1, 4  # kinds of lines
_MOST_MARKERS: Final = 60
_MOST_DATES: Final = 5
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400  # seconds
_SECONDS: Final = tuple(
    [5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE]
    + [count * _HOUR for count in (1, 3, 6, 12)]
    + [count * _DAY for count in (1, 2, 5, 10)]
)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120)


def budget_chart(history: History) -> Chart:
    """Draws an account from a little before its first charge to a little after its last one, in UTC."""
    steps = history.steps
    begin, end = history.span
    dates, title = _dates(begin, end)
    corners = tuple(_corners(begin, end, steps, history))
    marked = tuple(_point(step.at, step.total, history) for step in steps[-_MOST_MARKERS:])
    lines = [Line(name="taken", points=corners, kind=TAKEN, marked=marked)]
    if history.limit is not None:
        ends = tuple(_point(at, history.limit, history) for at in (begin, end))
        lines.append(Line(name="limit", points=ends, kind=LIMIT, marked=()))
    return chart(
        history.kind.label,
        lines,
        x=Axis(title=title, ticks=tuple(dates)),
        y=Axis(title=f"{history.kind.label} used", from_zero=True),
    )


def _corners(
    begin: datetime, end: datetime, steps: Sequence[BudgetStep], history: History
) -> Iterator[tuple[float, float]]:
    """Yields corners of a line that is level until a charge, then upright."""
    before, level = _point(begin, 0, history)
    yield before, level
    for step in steps:
        at, total = _point(step.at, step.total, history)
        yield at, level
        yield at, total
        level = total
    yield end.timestamp(), level


def _point(at: datetime, units: int, history: History) -> tuple[float, float]:
    return at.timestamp(), units / units_per_one(history.kind)


def _dates(begin: datetime, end: datetime) -> tuple[list[tuple[float, str]], str]:
    """Returns round moments between two with their words, few enough to be read, and what the axis is."""
    low, high = begin.timestamp(), end.timestamp()
    for seconds in _SECONDS:
        if seconds < _DAY < high - low:  # a time of day would not say of which
            continue
        moments = range(-int(-low // seconds) * seconds, int(high) + 1, seconds)
        if len(moments) <= _MOST_DATES:
            ats = [datetime.fromtimestamp(moment, UTC) for moment in moments]
            if seconds < _DAY:
                return [(at.timestamp(), f"{at:%H:%M}") for at in ats], _span(begin, end, "%Y-%m-%d")
            return [(at.timestamp(), f"{at.day} {at:%b}") for at in ats], _span(begin, end, "%Y")
    for count in _MONTHS:
        ats = [at for at in _months(begin, end) if (12 * at.year + at.month - 1) % count == 0]
        if len(ats) <= _MOST_DATES:
            break
    return [(at.timestamp(), f"{at:%b %Y}") for at in ats], _span(begin, end, "%Y")


def _months(begin: datetime, end: datetime) -> Iterator[datetime]:
    """Yields the first moments of months."""
    at = datetime(begin.year, begin.month, 1, tzinfo=UTC)
    while at <= end:
        if at >= begin:
            yield at
        at = (at + timedelta(days=32)).replace(day=1)


def _span(begin: datetime, end: datetime, form: str) -> str:
    """Names the day or year, or the first and the last one."""
    ends = dict.fromkeys(f"{at.astimezone(UTC):{form}}" for at in (begin, end))
    return f"{' to '.join(ends)}, UTC"
