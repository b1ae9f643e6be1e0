"""Finds the heatmap mechanism nearest to the truth, by persons and ε: what the product's help page shows."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes

from mechanisms.catalogue.registry import entries
from mechanisms.evaluation.places import CheckInPlace, Split
from mechanisms.evaluation.protocol import Protocol, compare, listed
from mechanisms.guarantee import Relation
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

PERSONS: Final = (50, 200, 1000)
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5", "10")
RESOLUTION: Final = 256
TRIALS, ALL_TRIALS = 24, 240
MEASURES: Final = ("emd", "similarity", "pearson")


def run(request: ExhibitRequest) -> list[Path]:
    """Writes the figure. Errors: `ParameterError` without files,
    or where no cell of them has so many persons.
    """
    trials = ALL_TRIALS if request.full else TRIALS
    dealt = places_with(request.files, persons=PERSONS, split=Split.ODD)
    rows = [
        row
        for persons, places in dealt.items()
        for epsilon in EPSILONS
        for row in measured(places, persons=persons, epsilon=epsilon, trials=trials)
    ]
    figure, axes = panels(len(PERSONS), width=13, height=5.4)
    for own, persons in zip(axes, PERSONS, strict=True):
        _plot(own, [row for row in rows if row["persons"] == persons])
        own.set_title(f"{persons} persons", loc="left")
    legend_above(figure, axes[0])
    counts = ", ".join(f"{min(len(places), trials)} with {persons}" for persons, places in dealt.items())
    return request.write(rows, figure, trials=trials, side=RESOLUTION, places=counts)


def measured(places: Sequence[CheckInPlace], *, persons: int, epsilon: str, trials: int) -> list[Row]:
    """Returns a row a mechanism: means over the trials, with their standard errors."""
    names = [entry.name for entry in entries(relation=Relation.ADD_REMOVE, kind="heatmap")]
    mechanisms = [listed(name, epsilon, persons, resolution=RESOLUTION, parameters={}) for name in names]
    protocol = Protocol(persons=persons, trials=trials, resolution=RESOLUTION)
    return [
        {
            "persons": persons,
            "epsilon": epsilon,
            "mechanism": name,
            "trials": trials,
            **row.of(MEASURES),
        }
        for name, row in zip(names, compare(places, mechanisms, protocol), strict=True)
    ]


def _plot(axes: Axes, rows: Sequence[Row]) -> None:
    labels = list(dict.fromkeys(str(row["mechanism"]) for row in rows))
    for colour, label in zip(cycle(COLOURS), labels, strict=False):
        own = [row for row in rows if row["mechanism"] == label]
        xs, emd, errors = (numbers(own, key) for key in ("epsilon", "emd", "emd_se"))
        axes.errorbar(xs, emd, yerr=errors, fmt="o-", color=colour, label=label, capsize=2)
    framed(axes, "ε", log="xy")
    ticks_at(axes, EPSILONS)
    plain_logarithmic(axes.yaxis)
    axes.set_ylim(0.003, 1)  # the same in all plots
