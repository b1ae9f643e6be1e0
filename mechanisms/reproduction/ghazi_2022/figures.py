"""Draws Figures 1, 2, 4-7, 10, 11 of Ghazi et al. 2022: accuracy by ε, persons, resolution and sparsity."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes

from mechanisms.evaluation.places import CheckInPlace
from mechanisms.evaluation.protocol import Protocol, compare, listed
from mechanisms.reproduction.check_ins import places_with
from mechanisms.reproduction.exhibit import (
    COLOURS,
    ExhibitRequest,
    Row,
    framed,
    legend_above,
    numbers,
    panels,
    plain_logarithmic,
    ticks_at,
)
from mechanisms.reproduction.mixtures import mixture

MEASURES: Final = {  # title of its plot, scale of its axis, and where that ends if it is known
    "similarity": ("Similarity (1 is best)", "linear", (0.0, 1.0)),
    "pearson": ("Pearson correlation (1 is best)", "linear", (None, 1.0)),
    "kl": ("KL divergence (0 is best)", "linear", (0.0, None)),
    "emd": ("Earth mover's distance (0 is best)", "log", (None, None)),
}
ALGORITHMS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("laplace", {}),
    ("laplace-top", {"keep_percent": "0.01"}),
    ("laplace-top", {"keep_percent": "0.1"}),
    ("sparse-emd", {}),
    ("adaptive", {}),
)
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5", "10")
COUNTS: Final = (50, 100, 200, 300, 400, 500)
RESOLUTIONS: Final = (64, 128, 256)
PERSONS: Final = 200
PLACES: Final = 30
TRIALS, ALL_TRIALS = 10, 60  # of a point in one place, or synthetic places; the paper has 10
# (share of cells that are not empty, Gaussians in the mixture)
ONE_MIXTURE: Final = tuple((share, 20) for share in (0.05, 0.15, 0.3, 0.6))
MORE_GAUSSIANS: Final = ((0.02, 5), (0.05, 10), (0.15, 20), (0.3, 20), (0.75, 80))
_RATIOS: Final = {"ε", "cells a side"}  # axes with equal steps for equal ratios
_REAL: Final = """the check-ins of the files given stand in for the paper's cuts of Gowalla and Brightkite"""
_SYNTHETIC: Final = "synthetic mixtures of Gaussians, 200 persons, ε = 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePoint:
    """Holds one place on the horizontal axis, with what is the same for all mechanisms there."""

    x: float
    places: Sequence[CheckInPlace] = field(repr=False)
    persons: int
    epsilon: str = "1"
    resolution: int = 256


def by_epsilon(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 1."""
    places = places_with(request.files, persons=[PERSONS])[PERSONS][:PLACES]
    trials = len(places) * (8 if request.full else 2)  # the paper has 2
    points = [
        FigurePoint(x=float(epsilon), places=places, persons=PERSONS, epsilon=epsilon) for epsilon in EPSILONS
    ]
    title = f"Accuracy by ε, 200 persons, 256 × 256 cells, {len(places)} places"
    return _figure(request, "1", title, {"ε": measured(points, trials)}, trials)


def emd_only(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 2: by persons and by resolution at ε = 10."""
    trials = ALL_TRIALS if request.full else TRIALS
    plots = {
        "persons": measured(_by_persons(request, "10"), trials),
        "cells a side": measured(_by_resolution(request, "10"), trials),
    }
    title = "EMD by persons and by resolution, ε = 10"
    return _figure(request, "2", title, plots, trials, measures=("emd",))


def by_persons(request: ExhibitRequest, number: str, epsilon: str) -> list[Path]:
    """Writes Figures 4 and 6."""
    trials = ALL_TRIALS if request.full else TRIALS
    rows = {"persons": measured(_by_persons(request, epsilon), trials)}
    return _figure(request, number, f"Accuracy by persons in one place, ε = {epsilon}", rows, trials)


def by_resolution(request: ExhibitRequest, number: str, epsilon: str) -> list[Path]:
    """Writes Figures 5 and 7."""
    trials = ALL_TRIALS if request.full else TRIALS
    rows = {"cells a side": measured(_by_resolution(request, epsilon), trials)}
    return _figure(request, number, f"Accuracy by resolution in one place, ε = {epsilon}", rows, trials)


def by_sparsity(request: ExhibitRequest, number: str, settings: Sequence[tuple[float, int]]) -> list[Path]:
    """Writes Figures 10 and 11."""
    datasets = ALL_TRIALS if request.full else TRIALS
    points = [
        FigurePoint(
            x=share,
            places=[mixture(share, gaussians, seed, persons=PERSONS) for seed in range(datasets)],
            persons=PERSONS,
        )
        for share, gaussians in settings
    ]
    gaussians = ", ".join(dict.fromkeys(str(count) for _, count in settings))
    title = f"Accuracy by share of cells that are not empty, {gaussians} Gaussians"
    rows = {"share of cells": measured(points, datasets)}
    return _figure(request, number, title, rows, datasets, data=_SYNTHETIC)


def measured(points: Iterable[FigurePoint], trials: int) -> list[Row]:
    """Returns a row for each point and algorithm."""
    rows: list[Row] = []
    for point in points:
        mechanisms = [
            listed(name, point.epsilon, point.persons, resolution=point.resolution, parameters=parameters)
            for name, parameters in ALGORITHMS
        ]
        protocol = Protocol(persons=point.persons, trials=trials, resolution=point.resolution)
        comparison = compare(point.places, mechanisms, protocol)
        for (name, parameters), row in zip(ALGORITHMS, comparison, strict=True):
            label = " ".join([name, *(f"{value} %" for value in parameters.values())])
            rows.append({"x": point.x, "mechanism": label, "trials": trials, **row.of(MEASURES)})
    return rows


def _by_persons(request: ExhibitRequest, epsilon: str) -> list[FigurePoint]:
    place = _place(request)
    return [FigurePoint(x=count, places=place, epsilon=epsilon, persons=count) for count in COUNTS]


def _by_resolution(request: ExhibitRequest, epsilon: str) -> list[FigurePoint]:
    place = _place(request)
    return [
        FigurePoint(x=side, places=place, persons=PERSONS, epsilon=epsilon, resolution=side)
        for side in RESOLUTIONS
    ]


def _place(request: ExhibitRequest) -> Sequence[CheckInPlace]:
    most = max(COUNTS)
    return places_with(request.files, persons=[most])[most][:1]


def _figure(
    request: ExhibitRequest,
    number: str,
    title: str,
    by_axis: dict[str, list[Row]],
    trials: int,
    *,
    measures: Iterable[str] = MEASURES,
    data: str = _REAL,
) -> list[Path]:
    """Writes a plot for each axis and measure; the CSV has all measures."""
    plots = [(axis, measure) for axis in by_axis for measure in measures]
    figure, axes = panels(len(plots), width=max(10.0, 3.6 * len(plots)), height=4.8)
    for own, (axis, measure) in zip(axes, plots, strict=True):
        _plot(own, by_axis[axis], axis, measure)
    legend_above(figure, axes[0])
    rows: list[Row] = [{"axis": axis, **row} for axis, several in by_axis.items() for row in several]
    return request.write(rows, figure, title=title, number=number, data=data, trials=trials)


def _plot(axes: Axes, rows: Sequence[Row], axis: str, measure: str) -> None:
    """Draws a line a mechanism, with its 95 % intervals."""
    labels = list(dict.fromkeys(str(row["mechanism"]) for row in rows))
    for colour, label in zip(COLOURS, labels, strict=False):
        own = [row for row in rows if row["mechanism"] == label]
        values, errors = (numbers(own, key) for key in (measure, f"{measure}_se"))
        bars = 1.96 * np.array(errors)
        axes.errorbar(numbers(own, "x"), values, yerr=bars, fmt="o-", color=colour, label=label, capsize=2)
    title, scale, ends = MEASURES[measure]
    framed(axes, axis, log="y" if scale == "log" else "")
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylim(*ends)
    if scale == "log":
        plain_logarithmic(axes.yaxis)
    if axis in _RATIOS:
        axes.set_xscale("log")
        ticks_at(axes, list(dict.fromkeys(numbers(rows, "x"))))
