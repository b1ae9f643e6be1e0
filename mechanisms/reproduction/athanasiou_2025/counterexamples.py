"""Counters statements of Athanasiou et al. 2025 that do not hold as printed, each with its exact numbers."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import brentq

from mechanisms.accounting.conditioned import (
    conditioned,
    conditioned_sum,
    log_truncation,
    smallest_padding,
)
from mechanisms.accounting.hockey_stick import calibrate_geo_sum, hockey_stick
from mechanisms.accounting.randomised_response import flip_without_ones, ones_delta
from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.reproduction.athanasiou_2025 import printed_constants
from mechanisms.reproduction.athanasiou_2025.austin import Unsnapped
from mechanisms.reproduction.exhibit import ExhibitRequest, Row, panels
from mechanisms.shuffle.plane_noise import noise_length

FAR: Final = 233


def run(request: ExhibitRequest) -> list[Path]:
    """Writes every statement as a ratio of exact to printed. Errors: as `ExhibitRequest.write`."""
    rows = list(counterexamples())
    figure, (axes,) = panels(1, width=11, height=6)
    labels = [f"{row['statement']}: {row['quantity']}" for row in rows]
    ratios = [float(str(row["exact"])) / float(str(row["printed"])) for row in rows]
    axes.barh(labels, ratios, left=0, color="#0b6e75")
    axes.set_xscale("log")
    axes.set_xlim(1e-3, 1e4)
    axes.axvline(1, color="#1d2530", linewidth=1)
    axes.tick_params(axis="y", labelsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("exact / printed", fontsize=9)
    return request.write(rows, figure)


def counterexamples() -> Iterator[Row]:
    """Yields a row for each quantity of each statement: what is printed, and what is exact."""
    yield from _lemma_c_1()
    yield from _proposition_3()
    yield from _theorem_4_1()
    yield from _theorem_3_1()
    yield from _algorithm_8()
    account = Unsnapped(persons=1000, epsilon=0.15)
    both_axes, single_axis = (
        noise_length(1000, e)[0] for e in (account.geo_two_axes(), account.geo_per_axis())
    )
    yield _row(
        "Appendix D", "n=1000 ε=0.15 r=6 squares", "noise needed on both axes", 1.0, both_axes / single_axis
    )


def _lemma_c_1() -> Iterator[Row]:
    for epsilon, persons, delta in ((0.01767766953, 1000, 5e-5), (0.2, 50, 1e-4), (0.1, 100, 1e-4)):
        setting = f"n={persons} ε={epsilon:.4g} δ={delta:g}"
        padding = printed_constants.sgdl_padding(epsilon, persons, delta)
        exact = smallest_padding(
            persons=persons, beta=1 / persons, epsilon=epsilon, log_probability=math.log(delta)
        )
        yield _row("Lemma C.1", setting, "padding c", padding, exact)
        cut = log_truncation(persons=persons, beta=1 / persons, epsilon=epsilon, padding=padding)
        yield _row("Lemma C.1", setting, "P(somebody is cut off)", delta, math.exp(cut))
        if padding == 1:
            shares = conditioned(sgdl(1 / persons, epsilon, radius=padding), padding)
            total = conditioned_sum(shares, persons=persons, radius=60)
            yield _row("Lemma C.1", setting, "loss at one step", epsilon, loss_at(total, 1, delta))


def _proposition_3() -> Iterator[Row]:
    """Yields rows of SGDL-Shuffle with the exact c for P(somebody is cut off)
    ≤ δ, as the proposition would have it.
    """
    shares = conditioned(sgdl(1 / 50, 0.2, radius=39), 39)
    total = conditioned_sum(shares, persons=50, radius=400)
    for distance in (6, 100):
        delta = hockey_stick(total, distance=distance, loss=0.2 * distance)
        yield _row("Proposition 3", "n=50 ε=0.2 c=39", f"δ at {distance} steps", 1e-4, delta)


def _theorem_4_1() -> Iterator[Row]:
    epsilon_geo = printed_constants.geo_epsilon(0.2, 50, 1e-4)
    for distance in (1, 72, FAR):
        law = sgdl(50, epsilon_geo, radius=4000)
        delta = hockey_stick(law, distance=distance, loss=0.2 * distance)
        yield _row("Theorem 4.1", "n=50 ε=0.2", f"δ/2 at {distance} steps", 5e-5, delta)
    for radius in (1, 10, 100, 1000):
        exact = calibrate_geo_sum(persons=50, epsilon=0.2, delta=5e-5, radius=radius)
        yield _row("Theorem 4.1", "n=50 ε=0.2", f"ε_geo up to {radius} steps", epsilon_geo, exact)


def _theorem_3_1() -> Iterator[Row]:
    flip = printed_constants.rr_random_bits(0.5, 1e-4) / 50_000 / 2
    for distance in (1, 410, 600):
        delta = ones_delta(bits=50_000, ones=0, flip=flip, distance=distance, loss=0.5 * distance)
        yield _row("Theorem 3.1", "n=50 k=1000 ε=0.5", f"δ at {distance} steps", 1e-4, delta)
    needed = flip_without_ones(bits=50_000, epsilon=0.5, delta=1e-4, radius=1)
    yield _row("Theorem 3.1", "n=50 k=1000 ε=0.5", "flips needed at one step", flip, needed)


def _algorithm_8() -> Iterator[Row]:
    """Yields a row of two persons, granularity 2 after the noise; one moves from 1 to 2."""
    noise, loss = np.exp(sgdl(1, 2.5, radius=40).two_sided()), 2.25

    def ones(value: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        noisy, shares = np.arange(-40, 41) + value + 40, np.zeros(50)
        np.add.at(shares, noisy // 2, noise * (1 - noisy % 2 / 2))
        np.add.at(shares, noisy // 2 + 1, noise * (noisy % 2 / 2))
        return shares

    first, second = (np.convolve(ones(1), ones(x)) for x in (1, 2))
    coarse = max(
        float(np.maximum(0, p - math.exp(loss) * q).sum()) for p, q in ((first, second), (second, first))
    )
    fine = hockey_stick(sgdl(2, 2.5, radius=200), distance=1, loss=loss)
    yield _row("Algorithm 8", "n=2 ε_geo=2.5 loss 2.25", "δ of Q=2 beside Q=1", fine, coarse)


def loss_at(law: SymmetricLaw, distance: int, delta: float) -> float:
    """Returns the loss at which a shift costs exactly δ."""

    def excess(loss: float) -> float:
        return hockey_stick(law, distance=distance, loss=loss) - delta

    return float(brentq(excess, 0.0, 50.0, xtol=1e-9))


def _row(statement: str, setting: str, quantity: str, claimed: float, exact: float) -> Row:
    return {
        "statement": statement,
        "setting": setting,
        "quantity": quantity,
        "printed": float(claimed),
        "exact": float(exact),
    }
