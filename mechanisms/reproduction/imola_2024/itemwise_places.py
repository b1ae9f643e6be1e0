"""How far maps of shuffled items are off on real check-ins: what `metric/itemwise/forecast.py` was fitted to.

`python -m mechanisms.reproduction.imola_2024.itemwise_places FILE… --split odd` prints, for each number of
reports and each greatest loss of one, the 10 %, 50 % and 90 % points of the errors as parts of the forecast's
median.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.evaluation.earth_mover import emd
from mechanisms.evaluation.places import CheckInPlace, Split
from mechanisms.metric.itemwise.deconvolution import likeliest
from mechanisms.metric.itemwise.forecast import forecast
from mechanisms.reproduction.check_ins import dealt_places
from mechanisms.space.grid import FINEST_LEVEL, morton_decode

SIDE: Final = 32
LEAST_PERSONS: Final = 100
PLACES_A_FILE: Final = 4
REPORTS: Final = (300, 3_000, 30_000, 300_000, 3_000_000)
CAPS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

Floats = NDArray[np.float64]


def axis_law(decay: float) -> Floats:
    """Returns `(SIDE, SIDE)` probabilities of reports by cell: geometric noise, stopped at the ends."""
    law = np.exp(-decay * np.abs(np.arange(-2 * SIDE, 2 * SIDE + 1)))
    law[[0, -1]] /= -np.expm1(-decay)
    offsets = np.arange(-2 * SIDE, 2 * SIDE + 1)
    probabilities = np.zeros((SIDE, SIDE))
    for cell in range(SIDE):
        np.add.at(probabilities[cell], np.clip(cell + offsets, 0, SIDE - 1), law / law.sum())
    return probabilities


def true_map(place: CheckInPlace) -> Floats:
    """Returns the `(SIDE, SIDE)` map by column and row: persons weigh the same."""
    persons, cells = place.records(np.arange(place.persons))
    column, row = (part >> (FINEST_LEVEL - 5) for part in morton_decode(cells, FINEST_LEVEL))
    weights = np.zeros((SIDE, SIDE))
    np.add.at(weights, (column, row), 1 / np.bincount(persons)[persons])
    return np.asarray(weights / weights.sum())


def errors(truths: Sequence[Floats], reports: int, cap: float, random: np.random.Generator) -> Floats:
    """Returns the errors of one draw a place."""
    law = axis_law(cap / 2 / SIDE)
    distances = []
    for truth in truths:
        of_reports = law.T @ truth @ law
        counts = random.multinomial(reports, of_reports.ravel() / of_reports.sum()).reshape(SIDE, SIDE)
        distances.append(emd(likeliest(counts, law, law), truth))
    return np.array(distances)


def main() -> None:
    """Runs the module's command; what is measured goes to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--split", type=Split, default=Split.ODD)
    options = parser.parse_args()
    truths = [
        true_map(place)
        for file in options.files
        for place in dealt_places([file], persons=[LEAST_PERSONS], split=options.split)[LEAST_PERSONS][
            :PLACES_A_FILE
        ]
    ]
    random = np.random.default_rng(7)
    for reports in REPORTS:
        for cap in CAPS:
            parts = errors(truths, reports, cap, random) / forecast(reports, cap).emd_median
            low, middle, high = np.quantile(parts, (0.1, 0.5, 0.9))
            print(f"{reports:>9} {cap:>6} {low:.2f} {middle:.2f} {high:.2f}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
