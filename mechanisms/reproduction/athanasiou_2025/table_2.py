"""Writes Table 2 of Athanasiou et al. 2025: mean absolute error of averages of whole numbers 0 to 1000."""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.flipped_bits import flipped_bits
from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.accounting.sgdl import sgdl
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.randomness import RandomSource
from mechanisms.reproduction.athanasiou_2025 import printed_constants
from mechanisms.reproduction.athanasiou_2025.printed_errors import printed_errors
from mechanisms.reproduction.exhibit import ExhibitRequest, Row, grouped_bars, panels
from mechanisms.samplers.binomial import binomial
from mechanisms.samplers.uniform import uniform_below
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum

DELTA: Final = Fraction(1, 10**4)
DOMAIN: Final = 1000
RUNS, ALL_RUNS = 4_000, 20_000
NEAR: Final = 10  # steps; the other radius is the whole domain
PRINTED: Final = printed_errors(2)
Sum = TypeVar("Sum", RrSum, GeoSum, SgdlSum)
_GROUPS: Final = ("geo_local", "rr", "geo", "sgdl")


def run(request: ExhibitRequest) -> list[Path]:
    """Writes Table 2 with its six settings. Errors: as `ExhibitRequest.write`."""
    runs = ALL_RUNS if request.full else RUNS
    rows = [_row(index, runs) for index in range(len(PRINTED))]
    figure, axes = panels(3, width=14, height=5)
    for own, group in zip(axes, ("rr", "geo", "sgdl"), strict=True):
        columns = [name for name in rows[0] if name.startswith(f"{group}_") and not name.endswith("_se")]
        grouped_bars(own, rows, label=lambda row: f"n={row['n']}\nε={row['epsilon']}", columns=columns)
        own.set_title(f"{group.upper() if group != 'geo' else 'Geo'}-Shuffle", loc="left")
    axes[0].set_ylabel("mean absolute error")
    return request.write(rows, figure, runs=runs)


def _row(index: int, runs: int) -> Row:
    persons, text, from_paper = PRINTED[index]
    epsilon, rng = Fraction(text), SeededSource(2025 + index)
    row: dict[str, str | int | float | None] = {"n": persons, "epsilon": text}
    row |= {f"{name}_printed": value for name, value in from_paper.items()}
    row |= honest(persons, float(epsilon))
    for name, errors in _ours(persons, epsilon, runs, rng):
        row |= {
            f"{name}_ours": float(errors.mean()),
            f"{name}_ours_se": float(errors.std()) / math.sqrt(runs),
        }
    grouped = [key for group in _GROUPS for key in row if key.startswith(f"{group}_")]
    return {key: row[key] for key in ("n", "epsilon", *grouped)}


def honest(persons: int, epsilon: float) -> dict[str, float]:
    """Returns exact errors of the paper's noise with parameters
    that have the privacy claimed (RR: as printed).
    """
    half = float(DELTA) / 2
    far, near = (
        calibrate_geo_sum(persons=persons, epsilon=epsilon, delta=half, radius=radius)
        for radius in (DOMAIN, NEAR)
    )
    return {
        "geo_local_honest": _mean_absolute(persons, epsilon) / persons,
        "rr_honest_theorem_3_1": _theorem_3_1(persons, epsilon),
        "geo_honest_10": _mean_absolute(persons, near) / persons,
        "geo_honest_1000": _mean_absolute(persons, far) / persons,
        "sgdl_honest_central": _mean_absolute(1, epsilon) / persons,
    }


def _ours(
    persons: int, epsilon: Fraction, runs: int, rng: RandomSource
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yields (name, `(runs,)` absolute errors of the average) of each mechanism, on values drawn once."""
    values = uniform_below(rng, DOMAIN + 1, persons).astype(np.int64)
    total = int(values.sum())
    response = calibrated(RrSum, persons, epsilon)
    released = (flipped_ones(response, total, rng) for _ in range(runs))
    yield "rr", np.array([abs(float(response.analyse(ones, persons) - total)) for ones in released]) / persons
    for name, protocol in (
        ("geo", calibrated(GeoSum, persons, epsilon)),
        ("sgdl", calibrated(SgdlSum, persons, epsilon)),
    ):
        noise = protocol.noise.noise(rng, runs * persons)
        yield name, np.abs(noise.reshape(runs, persons).sum(axis=1)) / persons


def calibrated(kind: type[Sum], persons: int, epsilon: Fraction) -> Sum:
    """Returns the mechanism at this table's δ, domain and nearer radius."""
    return kind.calibrate(persons=persons, epsilon=epsilon, delta=DELTA, radius=NEAR, domain=DOMAIN)


def flipped_ones(protocol: RrSum, total: int, rng: RandomSource) -> int:
    """Returns the number of ones after every bit was flipped, as the shuffler would publish it."""
    ones = total - binomial(rng, trials=total, chance=protocol.flips)
    zeros = protocol.persons * protocol.domain - total
    return ones + binomial(rng, trials=zeros, chance=protocol.flips)


def _mean_absolute(shape: float, epsilon: float) -> float:
    deviation = math.sqrt(2 * shape * math.exp(-epsilon)) / -math.expm1(-epsilon)
    return sgdl(shape, epsilon, radius=math.ceil(15 * deviation + 40 / epsilon)).mean_absolute()


def _theorem_3_1(persons: int, epsilon: float) -> float:
    """Returns the error with half of all bits set: Y = Bin(bits/2, f)
    − Bin(bits/2, f), scaled to be unbiased.
    """
    bits = persons * DOMAIN
    random_bits = printed_constants.rr_random_bits(epsilon, float(DELTA))
    if random_bits >= bits:
        return math.nan
    law = flipped_bits(bits, bits // 2, random_bits / bits / 2)
    steps = law.first + np.arange(law.log_probabilities.size) - bits / 2
    mean = float((np.exp(law.log_probabilities) * np.abs(steps)).sum())
    return bits / (bits - random_bits) * mean / persons
