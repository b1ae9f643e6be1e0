"""Figures 12 and 13 of Ghazi et al. 2022: what the round of shuffled shares sends and is worth, by B."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes

from mechanisms.central.sparse_emd import SparseEmd
from mechanisms.check import ParameterError
from mechanisms.experiments.check_ins import dealt_places
from mechanisms.experiments.exhibit import COLOURS, Request, Row, legend_above, numbers, panels
from mechanisms.experiments.heatmap_protocol import Protocol, compare
from mechanisms.experiments.places import Split
from mechanisms.guarantee import Relation
from mechanisms.interface import HeatmapMechanism
from mechanisms.shuffle.emd_round import EmdRound
from mechanisms.shuffle.shuffle_emd import ShuffleEmd
from mechanisms.shuffle.split_and_mix import communication_bits, printed_shares

PERSONS, EPSILON, DELTA = 50, Fraction(5), Fraction(1, 10**5)
RESOLUTION: Final = 256
PARTS: Final = (4, 16, 64, 256, 1024, 4096)
TRIALS, ALL_TRIALS = 40, 240
MEASURES: Final = {
    "emd": "Earth mover's distance (0 is best)",
    "kl_mixed": "KL, 1 % uniform mixed in (0 is best)",
    "similarity": "Similarity (1 is best)",
    "pearson": "Pearson correlation (1 is best)",
}
PIXELS: Final = 320 * 240  # of the paper's images
_BITS_A_MEGABYTE: Final = 8e6
COLUMNS: Final = {"printed_megabytes": "printed, the paper's formula", "megabytes": "ours"}
COMMUNICATION: Final = """What each of 50 participants sends, ε = 5, δ = 1e-5, by B, the parts that
masses are divided into (Figure 12 of Ghazi et al. 2022). Printed: r·m·⌈log2(mq)⌉ bits with the paper's
r and q = Bn, for images of 320 × 240 and all coarser levels. Ours: the same formula for 256 × 256 cells
from level 2 on, with the shares that are proved to do and a modulus that also holds the noise. No data
are needed."""
UTILITY: Final = """Released maps by B beside the central mechanism (Figure 13 of Ghazi et al. 2022):
{trials} trials of 50 persons, ε = 5, 256 × 256 cells, σ = 4 cells, relation: replace. Noise is drawn
with the law of the round on devices. The paper has images with eye movements (SALICON); here check-ins
of the files given stand in, in their densest cells of 0.25° × 0.1667°. Bars and the band: standard errors."""


def communication(request: Request) -> list[Path]:
    """Figure 12."""
    rows = [communication_row(parts) for parts in PARTS]
    figure, (axes,) = panels(1, width=7, height=5)
    for colour, (column, label) in zip(COLOURS, COLUMNS.items(), strict=False):
        axes.plot(numbers(rows, "B"), numbers(rows, column), "o-", color=colour, label=label)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("B")
    axes.set_ylabel("megabytes a participant")
    axes.set_ylim(0)
    axes.legend(frameon=False)
    return request.write(rows, figure, COMMUNICATION)


def communication_row(parts: int) -> Row:
    """Shares, modulus, messages and megabytes, as printed and ours."""
    coordinates = sum(PIXELS // 4**level for level in range(9))
    q = parts * PERSONS
    shares = printed_shares(
        persons=PERSONS, epsilon=float(EPSILON), delta=float(DELTA), coordinates=coordinates, modulus=q
    )
    printed = communication_bits(shares=shares, coordinates=coordinates, modulus=q)
    law = ShuffleEmd(relation=Relation.REPLACE, epsilon=EPSILON, resolution=RESOLUTION, parts=parts)
    protocol = EmdRound.calibrate(law, delta=DELTA, persons=PERSONS)
    return {
        "B": parts,
        "printed_shares": shares,
        "printed_coordinates": coordinates,
        "printed_modulus": q,
        "printed_megabytes": printed / _BITS_A_MEGABYTE,
        "shares": protocol.shares,
        "coordinates": protocol.coordinates,
        "modulus": protocol.modulus,
        "messages": protocol.shares * protocol.coordinates,
        "megabytes": protocol.bits / _BITS_A_MEGABYTE,
        "delta": protocol.spent_delta,
    }


def utility(request: Request) -> list[Path]:
    """Figure 13. Errors: `ParameterError` without files, or where no cell of them has 50 persons."""
    if not request.files:
        raise ParameterError("FILE", "missing", "one or more gzip CSV files of check-ins")
    trials = ALL_TRIALS if request.full else TRIALS
    places = dealt_places(request.files, persons=[PERSONS], split=Split.ALL)[PERSONS]
    relation = Relation.REPLACE
    laws: list[HeatmapMechanism] = [
        ShuffleEmd(relation=relation, epsilon=EPSILON, resolution=RESOLUTION, parts=parts) for parts in PARTS
    ]
    central = SparseEmd(relation=relation, epsilon=EPSILON, resolution=RESOLUTION)
    found = compare(places, [*laws, central], Protocol(persons=PERSONS, trials=trials, resolution=RESOLUTION))
    names = [*(str(parts) for parts in PARTS), "central"]
    rows: list[Row] = [
        {
            "B": name,
            "trials": trials,
            **{key: float(getattr(row, key)) for measure in MEASURES for key in (measure, f"{measure}_se")},
        }
        for name, row in zip(names, found, strict=True)
    ]
    figure, axes = panels(len(MEASURES), width=14, height=4.5)
    for own, (measure, title) in zip(axes, MEASURES.items(), strict=True):
        _plot(own, rows, measure)
        own.set_title(title, loc="left", fontsize=10)
    legend_above(figure, axes[0])
    return request.write(rows, figure, UTILITY.format(trials=trials))


def _plot(axes: Axes, rows: Sequence[Row], measure: str) -> None:
    """The rounds by B, and the central mechanism, the last row, as a level with its standard error."""
    values, errors = (numbers(rows, key) for key in (measure, f"{measure}_se"))
    axes.errorbar(
        PARTS, values[:-1], yerr=errors[:-1], fmt="o-", color=COLOURS[0], capsize=2, label="shuffled round"
    )
    axes.axhline(values[-1], color=COLOURS[3], linestyle="--", label="central mechanism")
    axes.axhspan(values[-1] - errors[-1], values[-1] + errors[-1], color=COLOURS[3], alpha=0.12)
    axes.set_xscale("log", base=2)
    axes.set_xticks(PARTS, [str(parts) for parts in PARTS])
    axes.set_xlabel("B")
    axes.grid(visible=True, alpha=0.3)
