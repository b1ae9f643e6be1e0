"""The tables and figures of the papers that can be made again, by name (`manage.py reproduce`).

An experiment is a function of a `Request` that writes a CSV file and a PNG with its caption and returns their
paths; it has its line here. Without `full` it finishes within ten minutes on two cores.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from mechanisms.check import ParameterError
from mechanisms.experiments import (
    geometry_examples,
    heatmap_choice,
    heatmap_figures,
    heatmap_slopes,
    k_median_costs,
    metric_frequency,
    metric_linear,
    shuffle_audit,
    shuffle_counterexamples,
    shuffle_emd_figures,
    shuffle_figures,
    shuffle_table_2,
    shuffle_table_3,
)
from mechanisms.experiments.exhibit import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """`files` says which data files it takes, if any."""

    title: str
    run: Callable[[Request], list[Path]]
    files: str = ""


_CHECK_INS: Final = "one or more gzip CSV files of check-ins"

EXPERIMENTS: Final[Mapping[str, Experiment]] = MappingProxyType(
    {
        "shuffle-table-2": Experiment(
            title="mean absolute error of averages by shuffled bits: printed, honest and ours",
            run=shuffle_table_2.run,
        ),
        "shuffle-table-3": Experiment(
            title="distance of central points in Austin from the true ones: printed, honest and ours",
            run=shuffle_table_3.run,
            files="a file of check-ins around Austin, Texas",
        ),
        "shuffle-boost": Experiment(
            title="what shuffling gains over one person's own noise (Figure 3): printed, honest and ours",
            run=shuffle_figures.boost,
        ),
        "shuffle-compromised": Experiment(
            title="what a colluding shuffler leaves (Figure 6): printed, honest and ours",
            run=shuffle_figures.compromised,
        ),
        "shuffle-counterexamples": Experiment(
            title="statements of the shuffle paper that do not hold as printed, with their exact numbers",
            run=shuffle_counterexamples.run,
        ),
        "shuffle-audit": Experiment(
            title="audits of shuffled sums: printed claims refuted, ours not, in one run",
            run=shuffle_audit.run,
        ),
        "metric-linear": Experiment(
            title="emd-linear beside user-level privacy at equal ε, by α / ε (Table 2a)",
            run=metric_linear.run,
            files="a gzip CSV file of check-ins",
        ),
        "metric-frequency": Experiment(
            title="GKRR by α beside its bound (Theorem 6.6), Hadamard response and Laplace (Table 2b)",
            run=metric_frequency.run,
            files="a gzip CSV file of check-ins",
        ),
        "geometry-examples": Experiment(
            title="scales of Examples 6.1 to 6.4, and errors of local mechanisms above their lower bounds",
            run=geometry_examples.run,
        ),
        "heatmap-slopes": Experiment(
            title="errors of dense-emd and sparse-emd by ε·n, with fitted slopes (Theorems 3.1 and D.1)",
            run=heatmap_slopes.run,
        ),
        "k-median-costs": Experiment(
            title="cost of private centres beside a solver that sees the data, by ε and k (Appendix A)",
            run=k_median_costs.run,
            files="one or more gzip CSV files of check-ins",
        ),
        "heatmap-choice": Experiment(
            title="EMD of every heatmap mechanism by persons and ε: which one to choose",
            run=heatmap_choice.run,
            files=_CHECK_INS,
        ),
        "heatmap-figure-1": Experiment(
            title="accuracy of heatmaps by ε in the densest places",
            run=heatmap_figures.by_epsilon,
            files=_CHECK_INS,
        ),
        "heatmap-figure-2": Experiment(
            title="EMD by persons and by resolution in one place, ε = 10",
            run=heatmap_figures.emd_only,
            files=_CHECK_INS,
        ),
        **{
            f"heatmap-figure-{number}": Experiment(
                title=f"all measures by {word} in one place, ε = {epsilon}",
                run=partial(run, number=number, epsilon=epsilon),
                files=_CHECK_INS,
            )
            for number, word, epsilon, run in (
                ("4", "persons", "10", heatmap_figures.by_persons),
                ("5", "resolution", "10", heatmap_figures.by_resolution),
                ("6", "persons", "1", heatmap_figures.by_persons),
                ("7", "resolution", "1", heatmap_figures.by_resolution),
            )
        },
        "heatmap-figure-10": Experiment(
            title="all measures by sparsity, synthetic data of 20 Gaussians",
            run=partial(heatmap_figures.by_sparsity, number="10", settings=heatmap_figures.ONE_MIXTURE),
        ),
        "heatmap-figure-11": Experiment(
            title="all measures by sparsity, synthetic data of 5 to 80 Gaussians",
            run=partial(heatmap_figures.by_sparsity, number="11", settings=heatmap_figures.MORE_GAUSSIANS),
        ),
        "heatmap-figure-12": Experiment(
            title="what a participant of the shuffled round sends, by B: printed and ours",
            run=shuffle_emd_figures.communication,
        ),
        "heatmap-figure-13": Experiment(
            title="maps of the shuffled round by B beside the central mechanism",
            run=shuffle_emd_figures.utility,
            files="one or more gzip CSV files of check-ins",
        ),
    }
)


def reproduce(request: Request) -> list[Path]:
    """The paths of what the experiment named in the request wrote.

    Errors: `ParameterError` for an unknown name, for files it does not take, or as the experiment has them.
    """
    experiment = EXPERIMENTS.get(request.name)
    if experiment is None:
        raise ParameterError("NAME", request.name, ", ".join(EXPERIMENTS))
    if request.files and not experiment.files:
        raise ParameterError("FILE", request.files[0].name, f"none: {request.name} takes no data files")
    return experiment.run(request)
