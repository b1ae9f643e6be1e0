"""Learns shares of cells in districts locally: GKRR, its bounds, and where it beats Hadamard response."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.frequency.gkrr import (
    Floats,
    Gkrr,
    Integers,
    clustered_distance,
    error_bound,
    printed_bound,
)
from mechanisms.metric.frequency.hadamard import Hadamard
from mechanisms.metric.itemwise.group import group_rate
from mechanisms.randomness import RandomSource
from mechanisms.reproduction.check_ins import one_file, read_check_ins
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, panels
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import Region

DISTRICTS, CELLS = 16, 4  # s, t: a grid of 8 × 8, districts of 2 × 2
WITHIN: Final = 0.05  # r
PERSONS, SAMPLES = 20_000, 100  # n, m
DELTA: Final = 1e-6
EPSILON: Final = 1.0
ALPHAS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
TRIALS: Final = 5


def run(request: ExhibitRequest) -> list[Path]:
    """Takes one file of check-ins; without it, places are made up."""
    path = one_file(request.files)
    rng, trials = SeededSource(0), TRIALS * (4 if request.full else 1)
    items = _items(path)
    truth = np.bincount(items, minlength=DISTRICTS * CELLS) / items.size
    flat = {"hadamard": _hadamard(items, truth, rng, trials), "laplace": _laplace(truth, rng, trials)}
    rows = [_row(alpha, items, truth, rng, trials) | flat for alpha in ALPHAS]
    better = [row["alpha"] for row in rows if row["gkrr"] < row["hadamard"]]
    figure = _figure(rows)
    table: list[Row] = [dict(row) for row in rows]
    return request.write(
        table,
        figure,
        crossover=f"{better[0]:g}" if better else "none shown",
        within=WITHIN,
        districts=DISTRICTS,
        cells=CELLS,
        persons=PERSONS,
        samples=SAMPLES,
        delta=DELTA,
        trials=trials,
        epsilon=EPSILON,
        who=f"rows of {path.name} drawn at random" if path else "made up",
    )


def _row(alpha: float, items: Integers, truth: Floats, rng: RandomSource, trials: int) -> dict[str, float]:
    loss = report_loss(alpha)
    gkrr = Gkrr.of(districts=DISTRICTS, district_cells=CELLS, loss=loss, within=WITHIN * loss)
    distances = [
        _distance(gkrr.estimate(_shares(gkrr.report(items, rng), truth.size)), truth) for _ in range(trials)
    ]
    return {
        "alpha": alpha,
        "alpha_0": loss,
        "gkrr": float(np.mean(distances)),
        "gkrr_bound": error_bound(gkrr, within=WITHIN, items=items.size),
        "theorem_6_6": printed_bound(
            districts=DISTRICTS, district_cells=CELLS, within=WITHIN, loss=loss, items=items.size
        ),
    }


def report_loss(alpha: float) -> float:
    """Returns α0: the largest found for which m shuffled reports of a person keep (α · d_EM, δ)."""
    low, high = math.log(alpha / SAMPLES), math.log(max(alpha, 8.0))
    for _ in range(14):
        middle = (low + high) / 2
        cap = math.exp(middle)
        if SAMPLES * cap * group_rate(SAMPLES, SAMPLES, cap, DELTA) <= alpha:
            low = middle
        else:
            high = middle
    return math.exp(low)


def composed_loss(epsilon: float, delta: float, count: int) -> float:
    """Returns the largest loss of `count` reports that compose to (epsilon, delta): each is (loss²/2)-zCDP,
    and ρ-zCDP is (ρ + 2 √(ρ log(1/δ)), δ)-DP (Bun, Steinke 2016, Propositions 1.4 and 1.3)."""
    root = math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))
    return math.sqrt(2 * root**2 / count)


def _hadamard(items: Integers, truth: Floats, rng: RandomSource, trials: int) -> float:
    loss = max(composed_loss(EPSILON, DELTA, SAMPLES), report_loss(EPSILON))
    response = Hadamard.of(items=truth.size, loss=loss)
    reports = (_shares(response.report(items, rng), response.columns) for _ in range(trials))
    return float(np.mean([_distance(response.estimate(shares), truth) for shares in reports]))


def _laplace(truth: Floats, rng: RandomSource, trials: int) -> float:
    """Returns the distance of exact shares with noise: replacing a record changes them by 2/n in L1."""
    unit = 2**20  # of a share, times n
    noise = discrete_laplace(rng, scale=Fraction(int(2 * unit / EPSILON)), size=trials * truth.size)
    estimates = truth + noise.reshape(trials, -1) / (unit * PERSONS)
    return float(np.mean([_distance(estimate, truth) for estimate in estimates]))


def _distance(estimate: Floats, truth: Floats) -> float:
    """Returns the distance of the estimate with its sum made 1: what the theorem bounds, before negative
    values are removed.
    """
    whole = estimate + (1 - estimate.sum()) / estimate.size
    return clustered_distance(whole, truth, districts=DISTRICTS, within=WITHIN)


def _shares(reports: Integers, size: int) -> Floats:
    return np.asarray(np.bincount(reports, minlength=size) / reports.size)


def _items(path: Path | None) -> Integers:
    """Returns `(n·m,)` cells, numbered district by district."""
    random, side = np.random.default_rng(0), math.isqrt(DISTRICTS * CELLS)
    level = side.bit_length() - 1
    if path is None:
        return random.choice(side**2, PERSONS * SAMPLES, p=random.dirichlet(np.full(side**2, 0.3)))
    _, lat, lon = read_check_ins(path)
    edges = [np.quantile(values, (0.01, 0.99)) for values in (lon, lat)]
    region = Region(float(edges[0][0]), float(edges[1][0]), float(edges[0][1]), float(edges[1][1]))
    inside = region.contains(lat, lon)
    cells = region.morton(lat[inside], lon[inside], level)  # Morton order: four cells of a square follow
    return random.choice(cells, PERSONS * SAMPLES)


def _figure(rows: list[dict[str, float]]) -> Figure:
    figure, (axes,) = panels(1, width=9, height=5.5)
    names = {"gkrr": "GKRR", "gkrr_bound": "its bound (Theorem 6.5)", "theorem_6_6": "Theorem 6.6 as printed"}
    names |= {"hadamard": "Hadamard response", "laplace": "Laplace, central"}
    for colour, (column, label) in zip(COLOURS, names.items(), strict=False):
        style = "o-" if column == "gkrr" else "--"
        axes.plot(
            [row["alpha"] for row in rows], [row[column] for row in rows], style, color=colour, label=label
        )
    label = "α, loss of a whole record at distance 1"
    framed(axes, label, "earth mover's distance", log="xy", legend=8)
    return figure
