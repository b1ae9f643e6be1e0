"""Compares what private centres cost with those of a solver that sees the data, on real check-ins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.k_median.mechanism import KMedian
from mechanisms.central.k_median.solver import cost, k_medians
from mechanisms.evaluation.places import CheckInPlace
from mechanisms.evaluation.protocol import Protocol, Trial
from mechanisms.guarantee import Relation
from mechanisms.records.mass_map import MassMap
from mechanisms.reproduction.check_ins import places_with
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, numbers, panels, ticks_at
from mechanisms.results.areas import Areas
from mechanisms.space.grid import morton_decode

PERSONS: Final = 500
RESOLUTION: Final = 64
CENTRES: Final = (2, 4, 8, 16)
TRIALS, ALL_TRIALS = 8, 40
EPSILONS: Final = ("0.5", "1", "2", "5", "10")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPersons:
    """Holds the persons of a trial: their masses, and as weighted points in half cells."""

    trial: Trial
    points: NDArray[np.int64]
    weights: NDArray[np.float64]

    def cost(self, centres: NDArray[np.int64]) -> float:
        """Returns average distance on the unit square."""
        return cost(self.points, self.weights, centres) / (2 * RESOLUTION * float(self.weights.sum()))


def run(request: ExhibitRequest) -> list[Path]:
    """Writes the figure. Errors: `ParameterError` without files,
    or where no cell of them has so many persons.
    """
    trials = ALL_TRIALS if request.full else TRIALS
    places = places_with(request.files, persons=[PERSONS])[PERSONS]
    rows = costs(places, trials)
    figure, (axes,) = panels(1, width=7, height=5)
    for colour, count in zip(COLOURS, CENTRES, strict=False):
        own = [row for row in rows if row["k"] == count]
        ratios = numbers(own, "ratio")
        axes.plot(numbers(own, "epsilon"), ratios, "o-", color=colour, label=f"k = {count}")
    axes.axhline(1, color="#55606e", linewidth=1)
    framed(axes, "ε", "cost over the cost without privacy", log="x", legend=10)
    ticks_at(axes, EPSILONS)
    return request.write(rows, figure, persons=PERSONS, trials=trials, places=min(len(places), trials))


def costs(places: Sequence[CheckInPlace], trials: int) -> list[Row]:
    """Returns a row for each k and ε: mean costs, and the mean of their ratio with its standard error."""
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


def _row(crowds: Sequence[TrialPersons], best: NDArray[np.float64], count: int, epsilon: str) -> Row:
    mechanism = KMedian(
        relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon), resolution=RESOLUTION, centres=count
    )
    trial_costs = np.array([crowd.cost(_centres(crowd, mechanism)) for crowd in crowds])
    ratios = trial_costs / best
    return {
        "k": count,
        "epsilon": epsilon,
        "trials": len(crowds),
        "cost": float(trial_costs.mean()),
        "cost_without_privacy": float(best.mean()),
        "ratio": float(ratios.mean()),
        "ratio_se": float(ratios.std(ddof=1)) / math.sqrt(len(crowds)),
    }


def _centres(crowd: TrialPersons, mechanism: KMedian) -> NDArray[np.int64]:
    """Returns the centres in half cells; the middle of the square where none was found."""
    areas = crowd.trial.released(mechanism)
    assert isinstance(areas, Areas)  # noqa: S101 - what k-median releases
    if not areas.centres.size:
        return np.array([[RESOLUTION, RESOLUTION]])
    return _middles(areas.centres)


def _crowd(trial: Trial) -> TrialPersons:
    masses: MassMap = trial.masses(2**24)
    return TrialPersons(trial=trial, points=_middles(masses.cells), weights=masses.masses / masses.unit)


def _middles(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    middles: NDArray[np.int64] = 2 * np.stack(morton_decode(cells, RESOLUTION.bit_length() - 1), axis=1) + 1
    return middles
