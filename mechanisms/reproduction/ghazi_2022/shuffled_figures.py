"""Draws Figures 12, 13 of Ghazi et al. 2022: what the round of shuffled shares sends and is worth, by B."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes

from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.evaluation.protocol import Protocol, compare
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism
from mechanisms.reproduction.check_ins import places_with
from mechanisms.reproduction.exhibit import (
    COLOURS,
    ExhibitRequest,
    Row,
    framed,
    legend_above,
    numbers,
    panels,
    ticks_at,
)
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


def communication(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 12."""
    rows = [communication_row(parts) for parts in PARTS]
    figure, (axes,) = panels(1, width=7, height=5)
    for colour, (column, label) in zip(COLOURS, COLUMNS.items(), strict=False):
        axes.plot(numbers(rows, "B"), numbers(rows, column), "o-", color=colour, label=label)
    axes.set_xscale("log", base=2)
    framed(axes, "B", "megabytes a participant", legend=10)
    axes.set_ylim(0)
    return request.write(rows, figure)


def communication_row(parts: int) -> Row:
    """Returns shares, modulus, messages and megabytes, as printed and ours."""
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


def utility(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 13. Errors: `ParameterError` without files, or where no cell of them has 50 persons."""
    trials = ALL_TRIALS if request.full else TRIALS
    places = places_with(request.files, persons=[PERSONS])[PERSONS]
    relation = Relation.REPLACE
    laws: list[HeatmapMechanism] = [
        ShuffleEmd(relation=relation, epsilon=EPSILON, resolution=RESOLUTION, parts=parts) for parts in PARTS
    ]
    central = SparseEmd(relation=relation, epsilon=EPSILON, resolution=RESOLUTION)
    comparison = compare(
        places, [*laws, central], Protocol(persons=PERSONS, trials=trials, resolution=RESOLUTION)
    )
    names = [*(str(parts) for parts in PARTS), "central"]
    rows: list[Row] = [
        {
            "B": name,
            "trials": trials,
            **row.of(MEASURES),
        }
        for name, row in zip(names, comparison, strict=True)
    ]
    figure, axes = panels(len(MEASURES), width=14, height=4.5)
    for own, (measure, title) in zip(axes, MEASURES.items(), strict=True):
        _plot(own, rows, measure)
        own.set_title(title, loc="left", fontsize=10)
    legend_above(figure, axes[0])
    return request.write(rows, figure, trials=trials)


def _plot(axes: Axes, rows: Sequence[Row], measure: str) -> None:
    """Draws the rounds by B, and the central mechanism, the last row, as a level with its standard error."""
    values, errors = (numbers(rows, key) for key in (measure, f"{measure}_se"))
    axes.errorbar(
        PARTS, values[:-1], yerr=errors[:-1], fmt="o-", color=COLOURS[0], capsize=2, label="shuffled round"
    )
    axes.axhline(values[-1], color=COLOURS[3], linestyle="--", label="central mechanism")
    axes.axhspan(values[-1] - errors[-1], values[-1] + errors[-1], color=COLOURS[3], alpha=0.12)
    axes.set_xscale("log", base=2)
    framed(axes, "B")
    ticks_at(axes, [str(parts) for parts in PARTS])
