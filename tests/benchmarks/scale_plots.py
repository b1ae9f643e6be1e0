"""Time and memory of releases against check-ins, persons and resolution: one picture.

Times are parts of pyarrow's group_by of the same rows in the same run.
"""

import json
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mechanisms.reproduction.exhibit import COLOURS

Row = Mapping[str, object]
Details = Mapping[str, float]

RESOLUTION = 1024  # where nothing else is said
CAPTION = """Made-up check-ins in PostgreSQL (tests/synthetic.py, seed 0), ten a person where persons are not
    said: releases (sparse-emd, from the request to the map that is drawn, through Celery) as parts of the
    time of pyarrow's group_by of the same rows in memory with one thread, 1,024 cells a side where
    resolution is not said. Memory: peak of the worker and of the largest process of the database. CPU: what
    the worker took for a release, of all it does; the database's is not in it. Medians of 3."""


def write(rows: Sequence[Row], folder: Path) -> Path:
    """The picture `scale.png`, its caption in it, from rows of `tests/benchmarks/scale.py`; the path."""
    found = [details for row in rows if "resolution" in (details := details_of(row))]
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    _against("checkins", panels[0], found, _ratio, lambda one: _usual(one) and _ten_each(one))
    panels[0].set_ylabel("time / group_by", fontsize=9)
    _against("resolution", panels[1], found, _ratio, lambda one: _ten_each(one) and _largest(one, found))
    _against("persons", panels[2], found, _ratio, lambda one: _usual(one) and _a_million(one))
    panels[2].set_ylabel("time / group_by", fontsize=9)
    _memory_and_cpu(panels[3], [one for one in found if _usual(one) and _ten_each(one)])
    caption = textwrap.fill(" ".join(CAPTION.split()), 140)
    figure.suptitle("Scale", x=0.01, ha="left", fontweight="bold")
    figure.supxlabel(caption, fontsize=8, color="#55606e", x=0.01, ha="left")
    path = folder / "scale.png"
    figure.savefig(path, dpi=120, metadata={"Description": caption})
    return path


def details_of(row: Row) -> Details:
    details = row.get("details")
    return details if isinstance(details, Mapping) else {}


def _against(
    what: str,
    axes: Axes,
    found: Sequence[Details],
    value: Callable[[Details], float],
    chosen: Callable[[Details], bool],
) -> None:
    own = sorted((one[what], value(one)) for one in found if chosen(one))
    if own:
        axes.plot(*zip(*own, strict=True), marker="o", color=COLOURS[0])
    axes.axhline(3, color="#1d2530", linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel({"checkins": "check-ins", "resolution": "cells a side"}.get(what, what), fontsize=9)
    axes.grid(visible=True, alpha=0.3)


def _memory_and_cpu(axes: Axes, found: Sequence[Details]) -> None:
    labels = {
        "worker_peak_mb": "worker, MB",
        "database_peak_mb": "database, MB",
        "worker_cpu": "worker, CPU seconds",
    }
    for (what, label), colour in zip(labels.items(), COLOURS, strict=False):
        own = sorted((one["checkins"], one[what]) for one in found)
        axes.loglog(*zip(*own, strict=True), marker="o", color=colour, label=label)
    axes.set_xlabel("check-ins", fontsize=9)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def _ratio(one: Details) -> float:
    return one["release"] / one["group_by"]


def _usual(one: Details) -> bool:
    return one["resolution"] == RESOLUTION


def _ten_each(one: Details) -> bool:
    return one["checkins"] == 10 * one["persons"]


def _a_million(one: Details) -> bool:
    return one["checkins"] == 1_000_000


def _largest(one: Details, found: Sequence[Details]) -> bool:
    return one["checkins"] == max(other["checkins"] for other in found)


if __name__ == "__main__":
    print(write([json.loads(line) for line in sys.stdin], Path(sys.argv[1])))
