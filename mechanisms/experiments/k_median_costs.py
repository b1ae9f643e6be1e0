"""What private centres cost beside those of a solver that sees the data, on real check-ins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.areas import Areas
from mechanisms.central.k_median import KMedian
from mechanisms.central.k_medians import cost, k_medians
from mechanisms.check import ParameterError
from mechanisms.experiments.check_ins import dealt_places
from mechanisms.experiments.exhibit import COLOURS, Request, Row, numbers, panels
from mechanisms.experiments.heatmap_protocol import Protocol, Trial
from mechanisms.experiments.places import Place, Split
from mechanisms.grid import morton_decode
from mechanisms.guarantee import Relation
from mechanisms.interface import MassMap

PERSONS: Final = 500
RESOLUTION: Final = 64
CENTRES: Final = (2, 4, 8, 16)
TRIALS, ALL_TRIALS = 8, 40
EPSILONS: Final = ("0.5", "1", "2", "5", "10")
CAPTION: Final = """Average L1 distance (unit square) of {persons} persons to the nearest of k centres,
64 × 64 cells: private centres (k-median on the sparse reconstruction, Appendix A of Ghazi et al. 2022)
over those that the same local search finds on the persons themselves, mean of {trials} trials in the
{places} densest cells of 0.25° × 0.1667° with so many persons. The paper proves a bound and measures
nothing; the check-ins are those of the files given (Gowalla and Foursquare stand in for the paper's
cuts). Relation: add or remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The persons of a trial: their masses, and as weighted points in half cells."""

    trial: Trial
    points: NDArray[np.int64]
    weights: NDArray[np.float64]

    def cost(self, centres: NDArray[np.int64]) -> float:
        """Average distance on the unit square."""
        return cost(self.points, self.weights, centres) / (2 * RESOLUTION * float(self.weights.sum()))


def run(request: Request) -> list[Path]:
    """Errors: `ParameterError` without files, or where no cell of them has so many persons."""
    trials = ALL_TRIALS if request.full else TRIALS
    if not request.files:
        raise ParameterError("FILE", "missing", "one or more gzip CSV files of check-ins")
    places = dealt_places(request.files, persons=[PERSONS], split=Split.ALL)[PERSONS]
    if not places:
        raise ParameterError("FILE", request.files[0].name, f"files with {PERSONS} persons in a cell")
    rows = costs(places, trials)
    figure, (axes,) = panels(1, width=7, height=5)
    for colour, count in zip(COLOURS, CENTRES, strict=False):
        own = [row for row in rows if row["k"] == count]
        ratios = numbers(own, "ratio")
        axes.plot(numbers(own, "epsilon"), ratios, "o-", color=colour, label=f"k = {count}")
    axes.axhline(1, color="#55606e", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([float(epsilon) for epsilon in EPSILONS], EPSILONS)
    axes.minorticks_off()
    axes.grid(visible=True, alpha=0.3)
    axes.set_xlabel("ε")
    axes.set_ylabel("cost over the cost without privacy")
    axes.legend(frameon=False)
    caption = CAPTION.format(persons=PERSONS, trials=trials, places=min(len(places), trials))
    return request.write(rows, figure, caption)


def costs(places: Sequence[Place], trials: int) -> list[Row]:
    """A row for each k and ε: mean costs, and the mean of their ratio with its standard error."""
    protocol = Protocol(persons=PERSONS, trials=trials, sigma=0.0, resolution=RESOLUTION)
    crowds = [
        _crowd(Trial(place=places[t % len(places)], repetition=t // len(places), protocol=protocol))
        for t in range(trials)
    ]
    rows: list[Row] = []
    for count in CENTRES:
        best = np.array([crowd.cost(k_medians(crowd.points, crowd.weights, count)) for crowd in crowds])
        rows += [_row(crowds, best, count, epsilon) for epsilon in EPSILONS]
    return rows


def _row(crowds: Sequence[Crowd], best: NDArray[np.float64], count: int, epsilon: str) -> Row:
    mechanism = KMedian(
        relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon), resolution=RESOLUTION, centres=count
    )
    found = np.array([crowd.cost(_centres(crowd, mechanism)) for crowd in crowds])
    ratios = found / best
    return {
        "k": count,
        "epsilon": epsilon,
        "trials": len(crowds),
        "cost": float(found.mean()),
        "cost_without_privacy": float(best.mean()),
        "ratio": float(ratios.mean()),
        "ratio_se": float(ratios.std(ddof=1)) / math.sqrt(len(crowds)),
    }


def _centres(crowd: Crowd, mechanism: KMedian) -> NDArray[np.int64]:
    """In half cells; the middle of the square where none was found."""
    areas = crowd.trial.released(mechanism)
    assert isinstance(areas, Areas)  # noqa: S101 - what k-median releases
    if not areas.centres.size:
        return np.array([[RESOLUTION, RESOLUTION]])
    return _middles(areas.centres)


def _crowd(trial: Trial) -> Crowd:
    masses: MassMap = trial.masses(2**24)
    return Crowd(trial=trial, points=_middles(masses.cells), weights=masses.masses / masses.unit)


def _middles(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = 2 * np.stack(morton_decode(cells, RESOLUTION.bit_length() - 1), axis=1) + 1
    return found
