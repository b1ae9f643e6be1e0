"""Which heatmap mechanism is nearest to the truth, by persons and ε: what the product's help page shows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes

from mechanisms.catalogue import build, entries
from mechanisms.check import ParameterError
from mechanisms.experiments.check_ins import dealt_places
from mechanisms.experiments.exhibit import (
    COLOURS,
    Request,
    Row,
    legend_above,
    numbers,
    panels,
    plain_logarithmic,
)
from mechanisms.experiments.heatmap_protocol import Protocol, compare
from mechanisms.experiments.places import Place, Split
from mechanisms.guarantee import Relation
from mechanisms.interface import HeatmapMechanism, Target

PERSONS: Final = (50, 200, 1000)
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5", "10")
RESOLUTION: Final = 256
TRIALS, ALL_TRIALS = 24, 240
MEASURES: Final = ("emd", "similarity", "pearson")
CAPTION: Final = """Earth mover's distance from the true map (L1 on the unit square, 32 × 32 blocks,
after smoothing with σ = 4 cells) of every mechanism of the catalogue that makes a map without knowing who
is enrolled, with the parameters it has where none are said; relation: add or remove, {side} × {side}
cells, the right number of expected persons, {trials} seeded trials a point, the same persons for all.
Data: the check-ins of the files given, in the densest cells of 0.25° × 0.1667° that no parameter was
chosen on ({places}). The protocol is that of Ghazi et al. 2022, section 4, over more mechanisms than
theirs. Bars: standard errors."""


def run(request: Request) -> list[Path]:
    """Errors: `ParameterError` without files, or where no cell of them has so many persons."""
    if not request.files:
        raise ParameterError("FILE", "missing", "one or more gzip CSV files of check-ins")
    trials = ALL_TRIALS if request.full else TRIALS
    dealt = dealt_places(request.files, persons=PERSONS, split=Split.ODD)
    for persons, places in dealt.items():
        if not places:
            raise ParameterError("FILE", request.files[0].name, f"files with {persons} persons in a cell")
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
    return request.write(rows, figure, CAPTION.format(trials=trials, side=RESOLUTION, places=counts))


def measured(places: Sequence[Place], *, persons: int, epsilon: str, trials: int) -> list[Row]:
    """A row a mechanism: means over the trials, with their standard errors."""
    names = [entry.name for entry in entries(relation=Relation.ADD_REMOVE, kind="heatmap")]
    mechanisms = [_built(name, persons, epsilon) for name in names]
    protocol = Protocol(persons=persons, trials=trials, resolution=RESOLUTION)
    return [
        {
            "persons": persons,
            "epsilon": epsilon,
            "mechanism": name,
            "trials": trials,
            **{key: float(getattr(row, key)) for m in MEASURES for key in (m, f"{m}_se")},
        }
        for name, row in zip(names, compare(places, mechanisms, protocol), strict=True)
    ]


def _built(name: str, persons: int, epsilon: str) -> HeatmapMechanism:
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(epsilon), expected_persons=persons)
    return build(name, target=target, resolution=RESOLUTION, parameters={})


def _plot(axes: Axes, rows: Sequence[Row]) -> None:
    labels = list(dict.fromkeys(str(row["mechanism"]) for row in rows))
    for colour, label in zip(cycle(COLOURS), labels, strict=False):
        own = [row for row in rows if row["mechanism"] == label]
        xs, emd, errors = (numbers(own, key) for key in ("epsilon", "emd", "emd_se"))
        axes.errorbar(xs, emd, yerr=errors, fmt="o-", color=colour, label=label, capsize=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([float(epsilon) for epsilon in EPSILONS], EPSILONS)
    axes.minorticks_off()
    plain_logarithmic(axes.yaxis)
    axes.set_ylim(0.003, 1)  # the same in all plots
    axes.set_xlabel("ε")
    axes.grid(visible=True, alpha=0.3)
