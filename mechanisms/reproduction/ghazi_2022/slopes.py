"""Fits how errors fall with epsilon · n: `dense-emd` on persons everywhere, `sparse-emd` on a few cells."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.dense_emd.mechanism import DenseEmd
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.evaluation.earth_mover import emd_exact
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.mechanism import HeatmapMechanism
from mechanisms.records.mass_map import MassMap
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, panels
from mechanisms.space.grid import morton_decode

LEVEL: Final = 6
DRAWS, ALL_DRAWS = 16, 60
CELLS: Final = 5  # occupied, for the sparse map
DENSE_PERSONS: Final = (64, 256, 1024, 4096)  # powers of 4: the grid's side doubles with each
SPARSE_PERSONS: Final = (250, 1000, 4000, 16000)


def run(request: ExhibitRequest) -> list[Path]:
    """Writes Theorems 3.1 and D.1 as fitted slopes. Errors: as `ExhibitRequest.write`."""
    draws = ALL_DRAWS if request.full else DRAWS
    experiments = {
        "dense-emd": (DENSE_PERSONS, dense_errors(draws)),
        "sparse-emd": (SPARSE_PERSONS, sparse_errors(draws)),
    }
    rows: list[Row] = [
        {
            "mechanism": name,
            "epsilon_n": persons,
            "draws": draws,
            "emd": float(each.mean()),
            "emd_se": float(each.std(ddof=1)) / math.sqrt(draws),
            "slope": slope(counts, errors),
        }
        for name, (counts, errors) in experiments.items()
        for persons, each in zip(counts, errors, strict=True)
    ]
    figure, (axes,) = panels(1, width=7, height=5)
    for colour, (name, (counts, errors)) in zip(COLOURS, experiments.items(), strict=False):
        means = [float(each.mean()) for each in errors]
        label = f"{name}, slope {slope(counts, errors):.2f}"
        axes.loglog(counts, means, "o-", color=colour, label=label)
    framed(axes, "ε · n", "earth mover's distance", legend=10)
    slopes = {name.split("-")[0]: slope(*pair) for name, pair in experiments.items()}
    return request.write(rows, figure, draws=draws, cells=CELLS, **slopes)


def dense_errors(draws: int) -> list[NDArray[np.float64]]:
    """Returns `(draws,)` errors for each number of persons, each person in a random cell."""

    def crowd(rng: np.random.Generator, persons: int) -> NDArray[np.int64]:
        return rng.integers(0, 4**LEVEL, persons)

    return [_errors(_dense(persons), crowd, persons, draws) for persons in DENSE_PERSONS]


def sparse_errors(draws: int) -> list[NDArray[np.float64]]:
    """Returns `(draws,)` errors for each number of persons, who share a few random cells."""

    def crowd(rng: np.random.Generator, persons: int) -> NDArray[np.int64]:
        return rng.choice(rng.choice(4**LEVEL, CELLS, replace=False), persons)

    mechanism = SparseEmd(relation=Relation.ADD_REMOVE, epsilon=Fraction(1), resolution=2**LEVEL)
    return [_errors(mechanism, crowd, persons, draws) for persons in SPARSE_PERSONS]


def slope(persons: Sequence[int], errors: Sequence[NDArray[np.float64]]) -> float:
    """Returns the slope of the straight line through the logarithms of mean errors."""
    means = [float(each.mean()) for each in errors]
    return float(np.polyfit(np.log(persons), np.log(means), 1)[0])


def _dense(persons: int) -> DenseEmd:
    return DenseEmd(
        relation=Relation.ADD_REMOVE, epsilon=Fraction(1), resolution=2**LEVEL, expected_persons=persons
    )


def _errors(
    mechanism: HeatmapMechanism,
    crowd: Callable[[np.random.Generator, int], NDArray[np.int64]],
    persons: int,
    draws: int,
) -> NDArray[np.float64]:
    random, rng = np.random.default_rng(persons), SeededSource(persons)
    return np.array([_error(mechanism, crowd(random, persons), rng) for _ in range(draws)])


def _error(mechanism: HeatmapMechanism, places: NDArray[np.int64], rng: SeededSource) -> float:
    counts = np.bincount(places, minlength=4**LEVEL)
    cells = np.flatnonzero(counts)
    masses = MassMap(level=LEVEL, unit=mechanism.unit, cells=cells, masses=counts[cells] * mechanism.unit)
    truth = np.zeros((2**LEVEL, 2**LEVEL))
    x, y = morton_decode(cells, LEVEL)
    truth[2**LEVEL - 1 - y, x] = counts[cells] / counts.sum()
    return emd_exact(mechanism.release(masses, rng).dense(), truth)
