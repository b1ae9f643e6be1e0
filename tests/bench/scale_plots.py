"""Time and memory of releases against check-ins, persons, resolution and workers: one picture.

Times are parts of pyarrow's group_by of the same rows in the same run, and for workers CPU seconds of the
busiest one as part of a single worker's; memory is what it is.
"""

import json
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Row = Mapping[str, object]
Details = Mapping[str, float]

COLOURS = ("#0b6e75", "#d99a2b", "#7a4fb5", "#ad2b2b")
RESOLUTION = 1024  # where nothing else is said
CAPTION = """Made-up check-ins in PostgreSQL (tests/synthetic.py, seed 0), ten a person where persons are not
    said: releases (sparse-emd, from the request to the published map, through Celery) as parts of the time
    of pyarrow's group_by of the same rows in memory with as many threads, 1,024 cells a side where
    resolution is not said. Memory: peak of the largest worker and of the largest process of the database.
    Workers: CPU seconds of the only worker, of all it does for a release, over those of the busier of two;
    the database's are not among them; first while both run, then with both on one core, where neither slows
    the other. Medians of 3."""


def write(rows: Sequence[Row], folder: Path) -> Path:
    """The picture `scale.png`, its caption in it, from rows of `tests/bench/scale.py`; the path."""
    found = [details for row in rows if "resolution" in (details := details_of(row))]
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    _against("checkins", panels[0], found, _ratio, lambda one: _usual(one) and _ten_each(one))
    panels[0].set_ylabel("time / group_by", fontsize=9)
    _against("resolution", panels[1], found, _ratio, lambda one: _ten_each(one) and _largest(one, found))
    _against("persons", panels[2], found, _ratio, lambda one: _usual(one) and _a_million(one))
    panels[2].set_ylabel("time / group_by", fontsize=9)
    compared = [one for one in found if _ten_each(one) and (_usual(one) or _largest(one, found))]
    _memory_and_workers(panels[3], compared)
    caption = textwrap.fill(" ".join(CAPTION.split()), 140)
    figure.suptitle("Scale", x=0.01, ha="left", fontweight="bold")
    figure.supxlabel(caption, fontsize=8, color="#55606e", x=0.01, ha="left")
    path = folder / "scale.png"
    figure.savefig(path, dpi=120, metadata={"Description": caption})
    return path


def details_of(row: Row) -> Details:
    details = row.get("details")
    return details if isinstance(details, Mapping) else {}


def speed_up(found: Sequence[Details], cpu: str = "busiest_worker_cpu") -> dict[tuple[float, float], float]:
    """By check-ins and cells a side: CPU seconds of one worker over those of the busier of two."""
    busiest = {(one["checkins"], one["resolution"], one["workers"]): one[cpu] for one in found}
    return {
        (checkins, resolution): busiest[checkins, resolution, 1] / seconds
        for (checkins, resolution, workers), seconds in sorted(busiest.items())
        if workers == 2 and (checkins, resolution, 1) in busiest
    }


def _against(
    what: str,
    axes: Axes,
    found: Sequence[Details],
    value: Callable[[Details], float],
    chosen: Callable[[Details], bool],
) -> None:
    for workers, colour in ((1, COLOURS[0]), (2, COLOURS[1])):
        own = sorted((one[what], value(one)) for one in found if one["workers"] == workers and chosen(one))
        if own:
            label = f"{workers} worker{'s' * (workers > 1)}"
            axes.plot(*zip(*own, strict=True), marker="o", color=colour, label=label)
    axes.axhline(3, color="#1d2530", linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel({"checkins": "check-ins", "resolution": "cells a side"}.get(what, what), fontsize=9)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def _memory_and_workers(axes: Axes, found: Sequence[Details]) -> None:
    one_worker = sorted(
        (one["checkins"], one["worker_peak_mb"], one["database_peak_mb"])
        for one in found
        if one["workers"] == 1 and _usual(one)
    )
    checkins, worker, database = zip(*one_worker, strict=True)
    axes.loglog(checkins, worker, marker="o", color=COLOURS[0], label="worker, MB")
    axes.loglog(checkins, database, marker="o", color=COLOURS[2], label="database, MB")
    in_turns = speed_up(found, "busiest_worker_cpu_in_turns")
    times = "\n".join(
        f"{int(checkins):,} check-ins, {int(side):,} a side: {times:.2f} ×, {in_turns[checkins, side]:.2f} ×"
        for (checkins, side), times in speed_up(found).items()
    )
    over_lines = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    text = f"two workers at a time, in turns on one core\n{times}"
    axes.text(0.98, 0.03, text, transform=axes.transAxes, ha="right", fontsize=7, bbox=over_lines)
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
