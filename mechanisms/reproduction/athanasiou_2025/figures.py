"""Draws Figures 3 and 6 of Athanasiou et al. 2025: what shuffling gains, what a colluding shuffler leaves."""

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

from matplotlib.axes import Axes
from scipy.optimize import brentq

from mechanisms.accounting.hockey_stick import geo_sum_delta
from mechanisms.check import ParameterError
from mechanisms.reproduction.athanasiou_2025 import printed_constants
from mechanisms.reproduction.exhibit import COLOURS, ExhibitRequest, Row, framed, panels
from mechanisms.shuffle.geo_shuffle import GeoSum
from mechanisms.shuffle.rr_shuffle import RrSum
from mechanisms.shuffle.sgdl_shuffle import SgdlSum

SumKind = TypeVar("SumKind", RrSum, GeoSum, SgdlSum)
DOMAIN: Final = 1000
NEAR: Final = 10  # steps
BOOST_DELTA: Final = 1e-4
BOOST_LOCAL: Final = (0.5, 1.0)  # ε_geo
COMPROMISED_EPSILON: Final = Fraction(1, 10)
COMPROMISED_DELTA: Final = Fraction(1, 100)
_PERSONS: Final = (1, 2, 5, 10, 20, 50, 100, 150, 200)
_MORE_PERSONS: Final = (*range(1, 20), *range(20, 201, 5), 500, 1000, 10_000, 100_000)


def boost(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 3."""
    rows = [
        boost_row(persons, epsilon_geo)
        for epsilon_geo in BOOST_LOCAL
        for persons in (_MORE_PERSONS if request.full else _PERSONS)
    ]
    figure, axes = panels(len(BOOST_LOCAL), width=12, height=5)
    for own, epsilon_geo in zip(axes, BOOST_LOCAL, strict=True):
        part = [row for row in rows if row["epsilon_geo"] == epsilon_geo]
        _lines(own, part, ["printed", "honest_1", "honest_10", "honest_1000", "ours_10"])
        own.axhline(epsilon_geo, color="#1d2530", linewidth=1, linestyle=":")
        own.set_title(f"ε_geo = {epsilon_geo:g}", loc="left")
    axes[0].set_ylabel("loss a step, ε")
    return request.write(rows, figure)


def boost_row(persons: int, epsilon_geo: float) -> Row:
    """Returns ε a step of the sum of n noises of ε_geo: printed, honest by the farthest move, ours."""
    row: dict[str, str | int | float | None] = {"n": persons, "epsilon_geo": epsilon_geo}
    row["printed"] = printed_constants.geo_loss(epsilon_geo, persons, BOOST_DELTA) if persons >= 5 else None
    for radius in (1, NEAR, DOMAIN):
        row[f"honest_{radius}"] = least_epsilon(persons, epsilon_geo, radius, BOOST_DELTA / 2)
    row[f"ours_{NEAR}"] = least_epsilon(persons, epsilon_geo, NEAR, 0.998 * BOOST_DELTA)
    return row


def least_epsilon(persons: int, epsilon_geo: float, radius: int, delta: float) -> float:
    """Returns the least ε a step for which δ(radius; ε·radius)
    is at most δ; at most ε_geo, which needs no δ.
    """

    def excess(epsilon: float) -> float:
        spent = geo_sum_delta(
            persons=persons, epsilon_geo=epsilon_geo, radius=radius, epsilon=max(epsilon, 1e-12)
        )
        return math.log(max(spent, 1e-300)) - math.log(delta)

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, epsilon_geo, xtol=1e-9)) if excess(epsilon_geo) < 0 else epsilon_geo


def compromised(request: ExhibitRequest) -> list[Path]:
    """Writes Figure 6."""
    rows = [compromised_row(persons) for persons in (_MORE_PERSONS if request.full else _PERSONS)]
    figure, axes = panels(3, width=14, height=5)
    for own, name in zip(axes, ("rr", "geo", "sgdl"), strict=True):
        _lines(own, rows, [column for column in rows[0] if column.startswith(f"{name}_")])
        own.axhline(float(COMPROMISED_EPSILON), color="#1d2530", linewidth=1, linestyle=":")
        own.set_title(f"{name.capitalize() if name == 'geo' else name.upper()}-Shuffle", loc="left")
    axes[0].set_ylabel("loss a step without the shuffler, ε_L")
    return request.write(rows, figure)


def compromised_row(persons: int) -> Row:
    """Returns ε_L of each mechanism whose shuffled sum costs 0.1 a step; None where it cannot be made so."""
    epsilon, delta = float(COMPROMISED_EPSILON), float(COMPROMISED_DELTA)
    response, shares = _sum(RrSum, persons, NEAR), _sum(SgdlSum, persons, NEAR)
    near, far = (_sum(GeoSum, persons, radius) for radius in (NEAR, DOMAIN))
    return {
        "n": persons,
        "rr_printed": printed_constants.rr_local_loss(epsilon, persons, DOMAIN, delta),
        "rr_ours_10": response.local_loss if response else None,
        "geo_printed": printed_constants.geo_epsilon(epsilon, persons, delta),
        "geo_ours_10": float(near.epsilon_geo) if near else None,
        "geo_ours_1000": float(far.epsilon_geo) if far else None,
        "sgdl_printed": printed_constants.sgdl_local_loss(epsilon, persons),
        "sgdl_ours": shares.local_loss(1) if shares else None,
        "exact_value_sent": shares.sends_exact_value if shares else None,
    }


def _sum(kind: type[SumKind], persons: int, radius: int) -> SumKind | None:
    try:
        return kind.calibrate(
            persons=persons,
            epsilon=COMPROMISED_EPSILON,
            delta=COMPROMISED_DELTA,
            radius=radius,
            domain=DOMAIN,
        )
    except ParameterError:  # too few persons for flipped bits
        return None


def _lines(axes: Axes, rows: Sequence[Row], columns: Sequence[str]) -> None:
    for column, colour in zip(columns, COLOURS, strict=False):
        points = [(row["n"], row[column]) for row in rows if row[column] is not None]
        style = "--" if column.endswith("printed") else "-"
        axes.loglog(
            *zip(*points, strict=True), style, marker="o", ms=3, color=colour, label=column.replace("_", " ")
        )
    framed(axes, "persons", legend=8)
