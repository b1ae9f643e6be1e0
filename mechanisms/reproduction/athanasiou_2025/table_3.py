"""Reproduces Table 3 of Athanasiou et al. 2025: how far a central point of addresses in Austin is off (m)."""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import norm

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.reproduction.athanasiou_2025.austin import (
    CELL_M,
    AustinPersons,
    Lengths,
    Unsnapped,
    metres,
    plane_noise,
    positions,
    some_of,
)
from mechanisms.reproduction.athanasiou_2025.printed_errors import printed_errors
from mechanisms.reproduction.check_ins import one_file
from mechanisms.reproduction.exhibit import ExhibitRequest, Row, grouped_bars, panels
from mechanisms.shuffle.centroid import GeoShuffle, RrShuffle, SgdlShuffle
from mechanisms.shuffle.plane_noise import noise_length

RUNS: Final = 4_000  # of Geo- and RR-Shuffle
MANY_RUNS: Final = 10_000  # of SGDL-Shuffle and the central optimum, which are compared
PRINTED: Final = printed_errors(3)
_GROUPS: Final = ("geo_local", "rr", "geo", "sgdl", "central")
_SHOWN: Final = {
    "rr": ("rr_printed", "rr_honest", "rr_ours"),
    "geo": ("geo_printed", "geo_honest_per_axis", "geo_honest_two_axes", "geo_ours"),
    "sgdl": ("sgdl_printed", "sgdl_honest_central", "sgdl_ours"),
}


def run(request: ExhibitRequest) -> list[Path]:
    """Takes one file of check-ins around Austin; without it, places are made up."""
    path, factor = one_file(request.files), 5 if request.full else 1
    places = positions(path)
    rows = [_row(index, places, factor) for index in range(len(PRINTED))]
    figure, axes = panels(3, width=14, height=5.5)
    for own, (group, columns) in zip(axes, _SHOWN.items(), strict=True):
        grouped_bars(own, rows, label=lambda row: f"n={row['n']}\nε={row['epsilon']}", columns=columns)
        own.set_title(f"{group.capitalize() if group == 'geo' else group.upper()}-Shuffle", loc="left")
    axes[0].set_ylabel("mean distance, metres")
    who = f"rows of {path.name} drawn at random" if path else "made up, uniform in the paper's rectangle"
    return request.write(rows, figure, runs=RUNS * factor, many=MANY_RUNS * factor, persons=who)


def _row(index: int, places: np.ndarray[tuple[int, int], np.dtype[np.int64]], factor: int) -> Row:
    persons, text, from_paper = PRINTED[index]
    crowd = AustinPersons(persons=persons, epsilon=Fraction(text), places=some_of(places, persons, index))
    row: dict[str, str | int | float | None] = {"n": persons, "epsilon": text}
    row |= {f"{name}_printed": value for name, value in from_paper.items()}
    row |= honest(Unsnapped(persons=persons, epsilon=float(crowd.epsilon)))
    measured = dict(measure(crowd, factor, seed=100 * index))
    for name, lengths in measured.items():
        row |= {name: float(lengths.mean()), f"{name}_se": standard_error(lengths)}
    for name, numerator, denominator in (
        ("sgdl_over_central", "sgdl_ours", "central_ours"),
        ("geo_over_per_axis", "geo_unsnapped", "geo_unsnapped_per_axis"),
    ):
        ratio, low, high = ratio_interval(measured[numerator], measured[denominator])
        row |= {name: ratio, f"{name}_low": low, f"{name}_high": high}
    grouped = [key for group in _GROUPS for key in row if key.startswith(f"{group}_")]
    return {key: row[key] for key in ("n", "epsilon", *grouped)}


def honest(account: Unsnapped) -> dict[str, float]:
    """Returns exact mean lengths in metres where the paper's noise has the privacy that is claimed."""
    n = account.persons
    response = account.response()
    return {
        "geo_local_honest": _metres(n, account.epsilon_axis, n),
        "rr_honest": math.sqrt(math.pi / 2) * response.standard_error(n) * CELL_M / n,
        "geo_honest_per_axis": _metres(n, account.geo_per_axis(), n),
        "geo_honest_two_axes": _metres(n, account.geo_two_axes(), n),
        "sgdl_honest_central": _metres(1, account.epsilon_axis, n),
    }


def measure(crowd: AustinPersons, factor: int, *, seed: int) -> Iterator[tuple[str, Lengths]]:
    """Yields distances over seeded runs: with snapping accounted for, then as the paper accounts."""
    runs, many = RUNS * factor, MANY_RUNS * factor
    yield "rr_ours", crowd.released(RrShuffle, runs, seed)
    yield "geo_ours", crowd.released(GeoShuffle, runs, seed + 1)
    yield "sgdl_ours", crowd.released(SgdlShuffle, many, seed + 2)
    noise = crowd.mechanism(SgdlShuffle)
    yield "central_ours", crowd.central(noise.epsilon_axis.limit_denominator(2**30), many, seed + 3)
    account = Unsnapped(persons=crowd.persons, epsilon=float(crowd.epsilon))
    yield "geo_unsnapped", unsnapped(account, Fraction(1), account.geo_two_axes(), runs, seed + 4)
    yield "geo_unsnapped_per_axis", unsnapped(account, Fraction(1), account.geo_per_axis(), runs, seed + 6)
    share = Fraction(1, crowd.persons)
    yield "sgdl_unsnapped", unsnapped(account, share, account.epsilon_axis, many, seed + 5)


def unsnapped(account: Unsnapped, shape: Fraction, epsilon: float, runs: int, seed: int) -> Lengths:
    """Returns lengths in metres of noise that is drawn person by person."""
    noise = plane_noise(account.padded(shape, epsilon), account.persons, runs, SeededSource(seed))
    return metres(noise, account.persons)


def ratio_interval(
    numerator: Lengths, denominator: Lengths, confidence: float = 0.90
) -> tuple[float, float, float]:
    """Returns (ratio of the means, and the interval of two one-sided tests, 5 % each)."""
    ratio = float(numerator.mean() / denominator.mean())
    relative = math.hypot(
        standard_error(numerator) / numerator.mean(), standard_error(denominator) / denominator.mean()
    )
    margin = math.exp(float(norm.ppf((1 + confidence) / 2)) * relative)
    return ratio, ratio / margin, ratio * margin


def standard_error(lengths: Lengths) -> float:
    """Returns the standard error of the mean, runs taken as independent."""
    return float(lengths.std(ddof=1)) / math.sqrt(lengths.size)


def _metres(shape: float, epsilon: float, persons: int) -> float:
    return noise_length(shape, epsilon)[0] * CELL_M / persons
