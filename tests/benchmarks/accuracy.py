"""Accuracy of every heatmap mechanism of the catalogue against epsilon, persons and resolution.

The heatmap paper's protocol (`mechanisms/evaluation/protocol.py`) on places of the odd half of
the real check-ins that `HAZEMAP_TEST_DATA` has, else on made-up ones. Nothing but one of the three varies.
With SCALE=1 three times as many trials, of more values.
Alone: `python -m tests.benchmarks.accuracy FOLDER`.
"""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from mechanisms.catalogue import registry
from mechanisms.check import ParameterError
from mechanisms.evaluation.places import CELLS_A_SIDE, CheckInPlace, Split, cell_region
from mechanisms.evaluation.protocol import Protocol, compare
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism, Target
from mechanisms.reproduction.check_ins import dealt_places
from mechanisms.reproduction.exhibit import COLOURS
from tests.benchmarks.measure import Size
from tests.synthetic import Crowd

FILES = ("gowalla_u5628", "gowalla_u1000_timed", "foursquare_u4969_timed", "foursquare_nyc_timed")
USUAL: dict[str, object] = {"epsilon": "1", "persons": 200, "resolution": 256}
VARIED = {
    "epsilon": ("0.25", "0.5", "1", "2", "5"),
    "persons": (50, 100, 200, 500, 1000),
    "resolution": (64, 256, 1024),
}
TRIALS = {Size.USUAL: 4, Size.LARGE: 12}
SMOOTHED = 1 / 64  # of the side: the paper's four cells of 256
MIDDLE = 0.2  # of the side of what is made up


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The mean error of one mechanism, with its standard error."""

    mechanism: str
    varied: str
    at: float
    emd: float  # L1 on the unit square
    emd_se: float

    def row(self) -> dict[str, object]:
        name = f"{self.mechanism}, {self.varied} {self.at:g}"
        return {"name": name, "emd": self.emd, "emd_se": self.emd_se}

    def __str__(self) -> str:
        return f"{self.emd:8.4f} ± {self.emd_se:.4f}  {self.mechanism}, {self.varied} {self.at:g}"


def points(size: Size = Size.USUAL) -> Iterator[Point]:
    """For each value of what varies, all mechanisms on the same persons."""
    if size.is_tiny:
        yield from points_at([made_up(0, 60)], "resolution", 32, trials=2, usual=USUAL | {"persons": 60})
        return
    places, trials = found_places(), TRIALS[size]
    for varied, values in VARIED.items():
        for value in values if size is Size.LARGE else values[::2]:
            yield from points_at(places, varied, value, trials=trials)


def points_at(
    places: Sequence[CheckInPlace],
    varied: str,
    value: object,
    *,
    trials: int,
    usual: Mapping[str, object] = USUAL,
) -> Iterator[Point]:
    chosen = dict(usual) | {varied: value}
    persons, resolution = int(str(chosen["persons"])), int(str(chosen["resolution"]))
    protocol = Protocol(
        persons=persons, trials=trials, resolution=resolution, sigma=resolution * SMOOTHED, seed=2
    )
    full = [place for place in places if place.persons >= persons]
    mechanisms = list(built(str(chosen["epsilon"]), persons, resolution))
    for row in compare(full, mechanisms, protocol):
        yield Point(
            mechanism=row.mechanism, varied=varied, at=float(str(value)), emd=row.emd, emd_se=row.emd_se
        )


def built(epsilon: str, persons: int, resolution: int) -> Iterator[HeatmapMechanism]:
    """All that can be built there; some have no such fine grid or ask for more."""
    for entry in registry.entries(relation=Relation.ADD_REMOVE, kind="heatmap"):
        target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon), expected_persons=persons)
        try:
            yield registry.build(entry.name, target=target, resolution=resolution, parameters={})
        except ParameterError as refused:
            print(f"left out at resolution {resolution}: {entry.name}: {refused}", file=sys.stderr)


def found_places() -> tuple[CheckInPlace, ...]:
    """With at least as many persons as the largest trial draws."""
    most = max(VARIED["persons"])
    folder = os.environ.get("HAZEMAP_TEST_DATA", "")
    if not folder:
        return (made_up(0, most), made_up(1, most))
    files = [Path(folder) / f"{name}.csv.gz" for name in FILES]
    return dealt_places(files, persons=(most,), split=Split.ODD)[most]


def made_up(seed: int, persons: int) -> CheckInPlace:
    """A handful of made-up towns: the middle of a larger made-up country."""
    number = 150 * CELLS_A_SIDE + seed
    region = cell_region(number)
    crowd = Crowd(persons=100 * persons, checkins=1000 * persons, seed=seed)
    blocks = list(crowd.blocks())
    person = np.concatenate([block[0] for block in blocks])
    x, y = (np.concatenate([block[1] for block in blocks], axis=1) - 0.5) / MIDDLE + 0.5
    inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
    latitude = region.south + y[inside] * (region.north - region.south)
    longitude = region.west + x[inside] * (region.east - region.west)
    return CheckInPlace.of(number, region, person[inside], latitude, longitude)


def write(found: Sequence[Point], folder: Path) -> Path:
    """A picture with a panel for each of the three, its caption in it; the path."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    for axes, varied in zip(figure.subplots(1, len(VARIED), sharey=True), VARIED, strict=True):
        _panel(axes, varied, [point for point in found if point.varied == varied])
    figure.axes[0].set_ylabel("earth mover's distance (unit square)", fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=9)
    figure.suptitle("Accuracy", x=0.01, ha="left", fontweight="bold")
    caption = textwrap.fill(_caption(), 150)
    figure.supxlabel(caption, fontsize=8, color="#55606e", x=0.01, ha="left")
    path = folder / "accuracy.png"
    figure.savefig(path, dpi=120, metadata={"Description": caption})
    return path


def _panel(axes: Axes, varied: str, found: Sequence[Point]) -> None:
    for name, colour in zip(dict.fromkeys(point.mechanism for point in found), COLOURS, strict=False):
        own = sorted((point for point in found if point.mechanism == name), key=lambda point: point.at)
        axes.errorbar(
            [point.at for point in own],
            [point.emd for point in own],
            yerr=[point.emd_se for point in own],
            marker="o",
            markersize=4,
            capsize=2,
            color=colour,
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(values := sorted({point.at for point in found}))
    axes.set_xticklabels([f"{value:g}" for value in values], fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel({"epsilon": "ε", "persons": "persons", "resolution": "cells a side"}[varied], fontsize=9)
    axes.grid(visible=True, alpha=0.3)


def _caption() -> str:
    real = "HAZEMAP_TEST_DATA" in os.environ
    data = "check-ins of Gowalla and Foursquare, odd cells" if real else "made-up check-ins"
    return (
        f"Mean earth mover's distance between the released and the true map, both smoothed by 1/64 of the "
        f"side and summed to 32 × 32 blocks; {data}; where not varied ε = {USUAL['epsilon']}, "
        f"{USUAL['persons']} persons, {USUAL['resolution']} cells a side; usual parameters; the same persons "
        "for all, bars are standard errors."
    )


if __name__ == "__main__":
    print(write(list(points()), Path(sys.argv[1])))
