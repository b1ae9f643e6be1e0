"""Turns a kept table into lines for a chart, a table and sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from heatmaps.numbers import length, number
from heatmaps.wording import mechanisms
from mechanisms.reproduction.measurements import Row, TableSource, table

Points: TypeAlias = tuple[tuple[float, float], ...]
EMD: Final = "error, part of the region’s side"
SIDE_KM: Final = 10  # of the region that errors are told in metres for


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Holds lines by name; `logarithmic`: the horizontal axis, the vertical one."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Points]
    logarithmic: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Holds a table for reading: heads, and rows that begin with their own head."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Holds a part of the page, at `anchor`; `sources` are the tables that all of its numbers come from."""

    anchor: str
    title: str
    sentences: tuple[str, ...]
    pictures: tuple[Picture, ...]
    sources: tuple[TableSource, ...]
    choices: Numbers | None = None

    @property
    def numbers(self) -> tuple[Numbers, ...]:
        return tuple(_numbers(picture) for picture in self.pictures)


def flowing(text: str) -> str:
    """Joins a sentence that was broken over lines of the program."""
    return " ".join(text.split())


def rows_of(name: str, **where: str) -> tuple[Row, ...]:
    """Returns the rows of a kept table with these values."""
    return tuple(
        row for row in table(name).rows if all(row[column] == value for column, value in where.items())
    )


def sources(*names: str) -> tuple[TableSource, ...]:
    return tuple(table(name).source for name in names)


def lines(rows: Iterable[Row], *, by: str, x: str, y: str) -> dict[str, Points]:
    """Returns a line for each value of the column `by`, in the order of the rows."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        series.setdefault(mechanism_title(row[by]), []).append((float(row[x]), float(row[y])))
    return {name: tuple(points) for name, points in series.items()}


def columns(rows: Sequence[Row], names: Mapping[str, str], *, x: str) -> dict[str, Points]:
    """Returns a line for each of these columns, by the names they get."""
    return {
        title: tuple((float(row[x]), float(row[column])) for row in rows) for column, title in names.items()
    }


def mechanism_title(label: str) -> str:
    """Returns the catalogue's title of a mechanism, with what else the label says; other labels as they
    are."""
    name, _, more = label.partition(" ")
    title = mechanisms.mechanism_title(name)
    if title == name:
        return label
    return f"{title}, {more}" if more else title


def value(rows: Iterable[Row], column: str, **where: str) -> float:
    """Returns the number of the one row with these values. Errors: ValueError where there is not exactly
    one."""
    (match,) = (row for row in rows if all(row[key] == text for key, text in where.items()))
    return float(match[column])


def digits(measured: float) -> str:
    """Writes a number to two digits."""
    return number(measured, digits=2)


def metres(emd: float) -> str:
    """Words an error as a distance in a region of `SIDE_KM`."""
    return length(emd * SIDE_KM * 1000, digits=2)


def _numbers(picture: Picture) -> Numbers:
    xs = sorted({x for points in picture.lines.values() for x, _ in points})
    series = {name: dict(points) for name, points in picture.lines.items()}
    return Numbers(
        title=f"{picture.title}: {picture.y}",
        heads=(picture.x, *picture.lines),
        rows=tuple((number(x, digits=6), *(_cell(points.get(x)) for points in series.values())) for x in xs),
    )


def _cell(measured: float | None) -> str:
    return "" if measured is None else number(measured)
