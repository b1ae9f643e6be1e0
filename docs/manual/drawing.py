"""Draws small SVG pictures in the product's colours, light and dark, from attributes alone."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

FONT: Final = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Colours; `heat` from few people to many, `lines` to tell lines apart."""

    paper: str
    ink: str
    soft: str
    grid: str
    mark: str
    heat: tuple[str, ...]
    lines: tuple[str, ...]


LOOKS: Final = {
    "light": Look(
        paper="#ffffff",
        ink="#1d2530",
        soft="#55606e",
        grid="#dce0e4",
        mark="#0b6e75",
        heat=("#fcdac1", "#f8b195", "#ee7b75", "#d0416f", "#9b2a77", "#5f1f6b", "#2d1447"),
        lines=("#0b6e75", "#a86a00", "#7a4fb5"),
    ),
    "dark": Look(
        paper="#181e26",
        ink="#e6e9ee",
        soft="#a4aebb",
        grid="#2c3540",
        mark="#6cc7c9",
        heat=("#5a3570", "#75306f", "#9b2f73", "#cc4770", "#ee7b66", "#f8b37f", "#fde7b8"),
        lines=("#6cc7c9", "#e0ab4b", "#b18be6"),
    ),
}


@dataclass(slots=True, kw_only=True)
class Picture:
    """An SVG that grows by what is drawn into it; `title` says what it shows to who cannot see it."""

    width: int
    height: int
    title: str
    look: Look
    parts: list[str] = field(default_factory=list)

    def text(
        self,
        at: Point,
        words: str,
        *,
        size: int = 13,
        anchor: str = "start",
        colour: str = "",
        bold: bool = False,
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{_n(at[0])}" y="{_n(at[1])}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour or self.look.ink}"{weight}>{escape(words)}</text>'
        )

    def box(self, at: Point, size: Point, *, fill: str, stroke: str = "none", round_by: int = 0) -> None:
        self.parts.append(
            f'<rect x="{_n(at[0])}" y="{_n(at[1])}" width="{_n(size[0])}" height="{_n(size[1])}" '
            f'rx="{round_by}" fill="{fill}" stroke="{stroke}"/>'
        )

    def line(self, points: Iterable[Point], *, colour: str, width: float = 1, dashes: str = "") -> None:
        drawn = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'
        )

    def dot(self, at: Point, *, radius: float, fill: str, stroke: str = "none") -> None:
        self.parts.append(
            f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{radius}" fill="{fill}" stroke="{stroke}" '
            'stroke-width="2"/>'
        )

    def squares(self, at: Point, cells: Iterable[tuple[int, int]], *, side: float, fill: str) -> None:
        """Equal squares, by (column, row), as one path."""
        drawn = "".join(
            f"M{_n(at[0] + column * side)} {_n(at[1] + row * side)}h{_n(side)}v{_n(side)}h-{_n(side)}z"
            for column, row in cells
        )
        if drawn:
            self.parts.append(f'<path d="{drawn}" fill="{fill}"/>')

    def svg(self) -> str:
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<rect width="{self.width}" height="{self.height}" fill="{self.look.paper}"/>\n{body}\n</svg>\n'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """A plot inside a picture: where a pair of values is. `logarithmic`: across, up."""

    corner: Point  # below left
    size: Point
    x: Point  # least and most
    y: Point
    logarithmic: tuple[bool, bool] = (False, False)

    def at(self, x: float, y: float) -> Point:
        across = _share(x, self.x, logarithmic=self.logarithmic[0])
        up = _share(y, self.y, logarithmic=self.logarithmic[1])
        return self.corner[0] + across * self.size[0], self.corner[1] - up * self.size[1]

    def draw(
        self, picture: Picture, *, across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]
    ) -> None:
        """The grid with its words."""
        for value, words in up:
            left, y = self.at(self.x[0], value)
            picture.line([(left, y), (left + self.size[0], y)], colour=picture.look.grid)
            picture.text((left - 8, y + 4), words, size=12, anchor="end", colour=picture.look.soft)
        for value, words in across:
            x, bottom = self.at(value, self.y[0])
            picture.text((x, bottom + 20), words, size=12, anchor="middle", colour=picture.look.soft)


def _share(value: float, ends: Point, *, logarithmic: bool) -> float:
    low, high = map(math.log, ends) if logarithmic else ends
    return ((math.log(value) if logarithmic else value) - low) / (high - low)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
