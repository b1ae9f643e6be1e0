"""The tables and figures of the papers that can be made again, by name (`manage.py reproduce`).

An experiment is a function of an `ExhibitRequest` that writes a CSV file and a PNG with its caption and
returns their paths; it has its line here and its words in `experiments.toml`. Without `full` it finishes
within ten minutes on two cores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from mechanisms.check import ParameterError
from mechanisms.reproduction import heatmap_choice
from mechanisms.reproduction.athanasiou_2025 import audit, counterexamples, table_2, table_3
from mechanisms.reproduction.athanasiou_2025 import figures as shuffle_figures
from mechanisms.reproduction.boedihardjo_2024 import examples
from mechanisms.reproduction.descriptions import DESCRIPTIONS
from mechanisms.reproduction.exhibit import ExhibitRequest
from mechanisms.reproduction.ghazi_2022 import figures, k_median_costs, shuffled_figures, slopes
from mechanisms.reproduction.imola_2024 import frequency, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Describes an experiment; `files` says which data files it takes, if any."""

    title: str
    run: Callable[[ExhibitRequest], list[Path]]
    files: str = ""


_RUNS: Final[Mapping[str, Callable[[ExhibitRequest], list[Path]]]] = {
    "shuffle-table-2": table_2.run,
    "shuffle-table-3": table_3.run,
    "shuffle-boost": shuffle_figures.boost,
    "shuffle-compromised": shuffle_figures.compromised,
    "shuffle-counterexamples": counterexamples.run,
    "shuffle-audit": audit.run,
    "metric-linear": linear.run,
    "metric-frequency": frequency.run,
    "geometry-examples": examples.run,
    "heatmap-slopes": slopes.run,
    "k-median-costs": k_median_costs.run,
    "heatmap-choice": heatmap_choice.run,
    "heatmap-figure-1": figures.by_epsilon,
    "heatmap-figure-2": figures.emd_only,
    "heatmap-figure-4": partial(figures.by_persons, number="4", epsilon="10"),
    "heatmap-figure-5": partial(figures.by_resolution, number="5", epsilon="10"),
    "heatmap-figure-6": partial(figures.by_persons, number="6", epsilon="1"),
    "heatmap-figure-7": partial(figures.by_resolution, number="7", epsilon="1"),
    "heatmap-figure-10": partial(figures.by_sparsity, number="10", settings=figures.ONE_MIXTURE),
    "heatmap-figure-11": partial(figures.by_sparsity, number="11", settings=figures.MORE_GAUSSIANS),
    "heatmap-figure-12": shuffled_figures.communication,
    "heatmap-figure-13": shuffled_figures.utility,
}
EXPERIMENTS: Final[Mapping[str, Experiment]] = MappingProxyType(
    {
        name: Experiment(title=described["title"], run=_RUNS[name], files=described.get("files", ""))
        for name, described in DESCRIPTIONS.items()
    }
)


def reproduce(request: ExhibitRequest) -> list[Path]:
    """Runs the experiment named in the request and returns the paths of what it wrote.

    Errors: `ParameterError` for an unknown name, for files it does not take, or as the experiment has them.
    """
    experiment = EXPERIMENTS.get(request.name)
    if experiment is None:
        raise ParameterError("NAME", request.name, ", ".join(EXPERIMENTS))
    if request.files and not experiment.files:
        raise ParameterError("FILE", request.files[0].name, f"none: {request.name} takes no data files")
    return experiment.run(request)
