"""Says what an experiment is asked for, and writes a table or figure: CSV, and PNG with its caption."""

import csv
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from matplotlib import color_sequences
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from mechanisms.reproduction.descriptions import caption

Row: TypeAlias = Mapping[str, str | int | float | None]
COLOURS: Final = color_sequences["petroff10"]  # told apart with every kind of colour blindness
DPI: Final = 120  # of a picture
_DIGITS: Final = 6
_CAPTION_COLUMNS: Final = 150  # letters of 8 points on 10 inches


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhibitRequest:
    """Asks to write the exhibit `name` into `folder`; `full` takes all the paper has, however long."""

    name: str
    folder: Path
    full: bool = False
    files: tuple[Path, ...] = ()

    def write(self, rows: Sequence[Row], figure: Figure, **facts: object) -> list[Path]:
        """Writes `name.csv` and `name.png`; columns are those of the first row, None is an empty field.

        facts: what the caption of `experiments.toml` takes. Errors: ValueError for rows of other columns,
        KeyError for a fact that is missing, OSError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        table, picture = (self.folder / f"{self.name}.{suffix}" for suffix in ("csv", "png"))
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: _field(value) for name, value in row.items()} for row in rows)
        text = caption(self.name, facts)
        width = int(_CAPTION_COLUMNS * figure.get_figwidth() / 10)
        figure.supxlabel(textwrap.fill(text, width), fontsize=8, color="#55606e", x=0.02, ha="left")
        figure.savefig(picture, dpi=DPI, metadata={"Description": text})
        return [table, picture]


def panels(count: int, *, width: float = 10.0, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """Returns a figure with `count` plots beside each other and room for a caption."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def legend_above(figure: Figure, axes: Axes) -> None:
    """Draws one legend for plots that show the same lines, where it hides none of them."""
    lines, labels = axes.get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=9)


def framed(axes: Axes, x: str, y: str = "", *, log: str = "", legend: float | None = None) -> None:
    """Sets labels and a light grid; `log` names logarithmic axes ("x", "xy"),
    `legend` the size of its letters.
    """
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, alpha=0.3)
    if legend is not None:
        axes.legend(frameon=False, fontsize=legend)


def ticks_at(axes: Axes, places: Sequence[str | float]) -> None:
    """Sets ticks along the horizontal axis at these numbers and nowhere else, as they are written."""
    axes.set_xticks(
        [float(place) for place in places],
        [place if isinstance(place, str) else f"{place:g}" for place in places],
    )
    axes.minorticks_off()


def plain_logarithmic(axis: Axis) -> None:
    """Sets ticks at 1, 2, 5, 10, … written out."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_locator(NullLocator())


def numbers(rows: Sequence[Row], column: str) -> list[float]:
    """Returns a column that has a number in every row, as a plot takes it."""
    return [float(str(row[column])) for row in rows]


def grouped_bars(
    axes: Axes, rows: Sequence[Row], *, label: Callable[[Row], str], columns: Sequence[str]
) -> None:
    """Draws a group of bars a row, a bar a column, on a logarithmic axis; missing values are left out."""
    width = 0.8 / len(columns)
    for place, column in enumerate(columns):
        points = [(index, row[column]) for index, row in enumerate(rows) if row[column] is not None]
        at = [index + (place - (len(columns) - 1) / 2) * width for index, _ in points]
        heights = [float(value) for _, value in points if value is not None]
        axes.bar(at, heights, width, label=column.replace("_", " "), color=COLOURS[place % len(COLOURS)])
    axes.set_yscale("log")
    axes.set_xticks(range(len(rows)), [label(row) for row in rows], fontsize=8)
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    axes.grid(visible=True, axis="y", alpha=0.3)


def _field(value: str | int | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
