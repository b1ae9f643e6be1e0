"""Computes Examples 6.1 to 6.4 of the metric geometry paper: what private grid mechanisms could reach."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.local.least_error import least_error
from mechanisms.local.optimal import Optimal
from mechanisms.local.planar_geometric import PlanarGeometric
from mechanisms.reproduction.boedihardjo_2024 import spaces as examples
from mechanisms.reproduction.boedihardjo_2024.bounds import (
    diametric_bound,
    entropic_bound,
    packing_bound,
    pair_bound,
)
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace, Floats
from mechanisms.reproduction.boedihardjo_2024.scales import diametric_scale, entropic_scale
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, panels

Blur: TypeAlias = GeoLocal | PlanarGeometric | Optimal

ALPHAS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
GRID: Final = Lattice(columns=5, rows=5)
DECAYS: Final = tuple(Fraction(text) for text in ("0.2", "0.4", "0.8", "1.6", "3.2"))
_GREY, _RED = "#55606e", "#ad2b2b"
_STEPS: Final = 300  # of branch and bound


def run(request: ExhibitRequest) -> list[Path]:
    """Writes examples 6.1 to 6.4 and Theorems 3.1 and 3.2 as one figure.
    Errors: as `ExhibitRequest.write`.
    """
    figure, axes = panels(3, width=14, height=5.5)
    rows = [*_scales(axes[0], axes[1]), *_errors(axes[2])]
    axes[0].set_title("balls of normed spaces", loc="left")
    axes[1].set_title("measures, functions, sequences", loc="left")
    axes[2].set_title("a grid of 5 × 5 cells", loc="left")
    for own in axes:
        framed(own, "α", log="xy", legend=7)
    axes[0].set_ylabel("entropic scale")
    axes[2].set_ylabel("largest expected error, cells")
    return request.write(rows, figure)


def spaces() -> list[tuple[str, FiniteSpace]]:
    """Returns (name, space), the balls first."""
    return [
        ("interval", examples.ball(1, a_side=24)),
        ("disc", examples.ball(2, a_side=4)),
        ("square", examples.ball(2, a_side=3, order=math.inf)),
        ("measures", examples.measures(3, places=5)),
        ("functions", examples.slopes(6)),
        ("sequences", examples.sequences(6, _baire)),
    ]


def paper_scale(name: str, alpha: float) -> float:
    """Returns the paper's scale, or its order."""
    if name == "sequences":
        powers = range(1, 64)
        return _baire(math.floor(min(k + alpha / math.log(2) * _baire(k) for k in powers)))
    if name in ("measures", "functions"):
        return float(min(alpha**-0.5, 1))
    return min((1 if name == "interval" else 2) / alpha, 1)


def _scales(of_balls: Axes, of_others: Axes) -> list[Row]:
    rows: list[Row] = []
    for place, (name, space) in enumerate(spaces()):
        axes, colour = of_balls if place < 3 else of_others, COLOURS[place]
        scales = [entropic_scale(space, alpha, most_steps=_STEPS) for alpha in ALPHAS]
        low, high = (np.array([getattr(each, side) for each in scales]) for side in ("low", "high"))
        heights = np.where(low > 0, low, np.nan)  # a scale of 0 has no place on a logarithmic axis
        axes.errorbar(
            ALPHAS, heights, yerr=(np.zeros(len(low)), high - low), fmt="o-", color=colour, label=name
        )
        paper = [paper_scale(name, alpha) for alpha in ALPHAS]
        axes.plot(ALPHAS, paper, "--", color=colour, linewidth=1)
        rows += [
            _row("scale", name, alpha, each.low, each.high, of_paper, diametric_scale(space, alpha))
            for alpha, each, of_paper in zip(ALPHAS, scales, paper, strict=True)
        ]
    return rows


def _errors(axes: Axes) -> list[Row]:
    space = FiniteSpace.of(GRID.pairs_m())
    rows: list[Row] = []
    kinds: tuple[type[Blur], ...] = (GeoLocal, PlanarGeometric, Optimal)
    for colour, kind in zip(COLOURS, kinds, strict=False):
        mechanisms = [kind(lattice=GRID, decay_per_m=decay) for decay in DECAYS]
        alphas = [float(each.costs.per_metre) for each in mechanisms]
        errors = [worst_error(each) for each in mechanisms]
        axes.plot(alphas, errors, "o-", color=colour, label=kind.name)
        rows += [
            _row("error", kind.name, alpha, error, error) for alpha, error in zip(alphas, errors, strict=True)
        ]
    bounds: dict[str, Callable[[float], float]] = {
        "Theorem 3.1": partial(entropic_bound, space),
        "Theorem 3.2": partial(diametric_bound, space),
        "3.1, sharper": partial(packing_bound, space),
        "3.2, sharper": partial(pair_bound, space),
        "bound of quotes": lambda alpha: least_error(GRID, Fraction(alpha)).worst_m,
    }
    at = [float(decay) for decay in DECAYS]
    styles = ((":", _GREY), ("-.", _GREY), (":", _RED), ("-.", _RED), ("-", _GREY))
    for (name, bound), (style, colour) in zip(bounds.items(), styles, strict=True):
        values = [bound(alpha) for alpha in at]
        axes.plot(at, values, linestyle=style, color=colour, label=name)
        rows += [_row("bound", name, alpha, value, None) for alpha, value in zip(at, values, strict=True)]
    axes.set_xlim(0.1, 10)
    axes.set_ylim(1e-2)
    return rows


def worst_error(mechanism: Blur) -> float:
    """Returns the largest expected error over the cells, from all probabilities of the table."""
    return float((shares(mechanism) * mechanism.lattice.pairs_m()).sum(axis=1).max())


def shares(mechanism: Blur) -> Floats:
    """Returns `(cells, cells)` probabilities of the reports by true cell."""
    lattice = mechanism.lattice
    if isinstance(mechanism, Optimal):
        table = mechanism.table.astype(np.float64)
    else:
        cells = [divmod(cell, lattice.rows) for cell in range(lattice.size)]
        table = np.array([_reports(mechanism, *cell).ravel() for cell in cells])
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _reports(mechanism: GeoLocal | PlanarGeometric, column: int, row: int) -> Floats:
    """Returns `(columns, rows)` weights of reports, up to a common factor."""
    if isinstance(mechanism, PlanarGeometric):
        return mechanism.table.weights(column, row).astype(np.float64)
    across, along = (
        table.weights(index, 0)[:, 0].astype(np.float64)
        for table, index in zip(mechanism.tables, (column, row), strict=True)
    )
    return np.outer(across, along)


def _baire(place: int) -> float:
    return float(2.0**-place)


def _row(kind: str, name: str, alpha: float, low: float, high: float | None, *more: float) -> Row:
    paper, diametric = more or (None, None)
    return {
        "kind": kind,
        "name": name,
        "alpha": alpha,
        "low": low,
        "high": high,
        "paper": paper,
        "diametric_scale": diametric,
    }
