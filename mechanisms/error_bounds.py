"""Predicts errors: bounds from public facts alone, for quotes before anything is spent or read.

All bounds are on the expected earth mover's distance (L1 on the unit square) between the released map and
the true one, both with sum 1. They start from a bound on D = EMD norm of s - ŝ, un-normalised masses whose
unmatched part costs 2 a unit, and divide by n:

    EMD(s/n, ŝ/n̂) ≤ D / max(n, n̂).

Lemma 2.1 of Ghazi et al. 2022 has 4·D/n, for D ≤ n/2 only. Proof of the above, for n̂ ≤ n (else exchange
roles): D may be taken as the cost of carrying a part s₁ of s with mass n̂ to ŝ, plus 2·(n - n̂). Carry s₁/n
to ŝ/n, and the rest of s/n, of mass (n - n̂)/n, over a distance of at most 2 to ŝ·(1/n̂ - 1/n).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy import euler_gamma
from numpy.typing import NDArray
from scipy.special import digamma

from mechanisms.candidate_net import Net
from mechanisms.check import positive
from mechanisms.expected_error import (
    FARTHEST,
    MAP_QUANTITY,
    POINT_QUANTITY,
    ErrorBound,
    ErrorForecast,
    PointError,
)

_WITHIN: Final = 0.95

_EVENLY_SPREAD: Final = 1.0  # the even map is never farther from any other
_FORECAST: Final = (
    "Forecast of the earth mover's distance between the released and the true map, both with sum 1 and "
    "smoothed by four cells of 256, with L1 distance on the unit square, where 2 is the largest possible "
    "value: nine of ten maps had an error from {part} of the given one up to it."
)
_FORECAST_FROM: Final = (
    "Seen on check-ins of towns and their surroundings with the number of people known; no bound is proved, "
    "and data that are spread in another way may be farther off."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNoise:
    """Gives the scale of Laplace noise of one quadtree level's measurements: its mean absolute value."""

    level: int
    scale_persons: float


def point_error(net: Net, weights: NDArray[np.float64], *, step_m: float) -> PointError:
    """Returns the error of a draw from a net with the weights of a table
    that has an entry every `step_m` metres.

    Read off the table for truths in the middle, at a side and in a corner of the region, each at
    a candidate and halfway between candidates.
    """
    halves = [
        (0.5 / count, (count // 2) / count, (count // 2 + 0.5) / count) for count in (net.columns, net.rows)
    ]
    places = list(product({0.0, *halves[0]}, {0.0, *halves[1]}))
    laws = [_distance_law(net, weights, step_m, x, y) for x, y in places]
    return PointError(
        expected_m=max(expected for expected, _ in laws),
        within_m=max(within for _, within in laws),
        quantity=POINT_QUANTITY,
        assumptions=f"The largest of {len(places)} places of the true point: middle, sides and corner of "
        "the region, at and between candidates. People without check-ins count at the region's centre.",
    )


def noise_in_every_cell(scale_persons: float, *, cells: int, persons: int) -> ErrorBound:
    """Returns min(2, 2 · cells · scale / n): each unit of noise moves a unit of mass by at most 2."""
    return _bound(
        2 * cells * scale_persons,
        persons,
        "Holds for all data when the number of people is right, and is far above what is usually seen.",
    )


def adaptive_forecast(scale_persons: float, *, persons: int) -> ErrorForecast:
    """Returns median = 0.94 (2n / s)^-0.619 for n people and noise of scale s people in each of two rounds.

    A straight line through logarithms of errors on places of the even half (n·epsilon from 25 to 5,000,
    `reproduction/forecast_fit.py`). The interval is wider than the 4 % and 96 % points of its residuals:
    errors scatter most where n·epsilon is largest, and nine of ten are within it there too. Places of the
    odd half check it.
    """
    positive(persons=persons)
    return _forecast(0.94 * (2 * persons / scale_persons) ** -0.619, low=0.45, high=1.9, part="a quarter")


def walked_forecast(scale_persons: float, *, persons: int) -> ErrorForecast:
    """Returns median = 0.88 (n / s)^-0.62 for n people and noise of scale s people in the leaves of one walk.

    As `adaptive_forecast`, on n·epsilon from 25 to 1,000.
    """
    positive(persons=persons)
    return _forecast(0.88 * (persons / scale_persons) ** -0.62, low=0.4, high=1.9, part="a fifth")


def guided_forecast(scale_persons: float, *, persons: int) -> ErrorForecast:
    """Returns nine tenths of `walked_forecast`, with a wider interval: a guide may be wrong.

    On places of the odd half 98 % of the errors were within it where the guide was of the same place, 92 %
    (at least 85 % in each setting) where it was of another city.
    """
    positive(persons=persons)
    return _forecast(0.79 * (persons / scale_persons) ** -0.62, low=0.42, high=1.95, part="a fifth")


def noise_with_selection(scale_persons: float, *, cells: int, selected: int, persons: int) -> ErrorBound:
    """Returns 2 · scale · (T(2v) + T(k)) / n for k kept cells and v = min(k, cells - k) that may be missed.

    A missed cell's mass is at most the noise of the cell kept in its place minus its own, so noise counts
    twice where a cell is kept wrongly, once in a missed cell and in the other kept ones.
    """
    missed = min(selected, cells - selected)
    noise = _top(cells, missed) + _top(cells, missed + selected)
    return _bound(
        2 * scale_persons * noise,
        persons,
        f"Holds when the number of people is right and at most {selected} cells are occupied; what the mass "
        "in further cells adds is left out.",
    )


def sparse_reconstruction(levels: Sequence[LevelNoise], *, width: int, persons: int) -> ErrorBound:
    """Returns the bound of Theorem 3.1 of Ghazi et al. 2022 with its constants worked out, for data of at
    most `width` occupied cells a level.

    Write ν for the noise, S for kept cells, V for candidates that should have been kept, U for as many
    cells kept in their place, all on one level i with N_i candidates, e_i for ‖ŷ_i - P_i s‖₁ and E for
    Σ_i 2^-i e_i.

    1. Lemma 3.2, with |V_i| = |U_i|: E ≤ Σ_i 2^-i (‖ν|S‖₁ + 2 ‖ν|V‖₁ + 2 ‖ν|U‖₁). (As printed, V_i also
       holds cells that never were candidates, for which line (2) of the proof fails, and the sum over all of
       S_i \\ T_i* may be smaller than the one over U_i. Cells below a missed one are paid for by it.)
    2. The mean of ‖ν‖₁ over *selected* cells is not their number times E|ν|, as the proof of Theorem 3.1
       takes it: selection prefers large noise. For w = 20 of 80 candidates the 20 largest |ν| have mean
       2.36 E|ν|. Bounded here by order statistics: k largest of N cost T(k) = k (1 + H_N - H_k) scales.
    3. The programme's own misfit is at most E (Lemma 3.3). Measuring from level q on, a_i = ‖P_i (s - ŝ)‖₁,
       D ≤ 2 a_q + Σ_{i>q} 2^-i a_i: what is left unmatched inside the cells of level q costs at most 2 a
       unit. (Lemma 3.5 needs the levels above q, which §4 of the paper does not measure.) So
       D ≤ (2^(q+1) + 1) E + (2 - 2^-q) e_q.
    """
    first, candidates, total = levels[0].level, 4 ** levels[0].level, 0.0
    for level in levels:
        selected = min(width, candidates)
        missed = min(selected, candidates - selected)
        noise = _top(candidates, missed) + _top(candidates, 2 * missed) + _top(candidates, selected + missed)
        total += level.scale_persons * noise / 2**level.level
        candidates = 4 * selected
    coarsest = levels[0].scale_persons * 4**first
    return _bound(
        (2 ** (first + 1) + 1) * total + (2 - 2**-first) * coarsest,
        persons,
        f"Holds when the number of people is right and at most {width} cells are occupied on every level; "
        "what data that are less sparse add is left out, and errors usually seen are far below it.",
    )


def noise_in_one_grid(deviation_persons: float, *, level: int, finest: int, persons: int) -> ErrorBound:
    """Returns the bound of Theorem D.1 of Ghazi et al. 2022 with its constants: (2 (ℓ + 2) 2^ℓ deviation + n
    2^-ℓ) / n for the grid of level ℓ, without the last term where the map is no finer.

    1. The nearest map is at most as far from the noisy masses as the true ones: D ≤ 2 ‖ν‖_EMD.
    2. ‖ν‖_EMD ≤ 2 |Σν| + Σ_{i=1}^ℓ 2^-i ‖P_i ν‖₁ as in `sparse_reconstruction`; E|sum of m| ≤ √m deviation,
       so that level i has mean at most 4^i √(4^(ℓ-i)) 2^-i = 2^ℓ deviations, and the whole grid 2 · 2^ℓ.
    3. Spreading a cell's mass evenly moves no unit farther than 2^-ℓ on average, from a corner.
    """
    noise = 2 * (level + 2) * 2**level * deviation_persons
    spreading = persons * 2.0**-level if level < finest else 0.0
    return _bound(
        noise + spreading,
        persons,
        "Holds for all data when the number of people is right, and is above what is usually seen.",
    )


def _forecast(median: float, *, low: float, high: float, part: str) -> ErrorForecast:
    """Returns the forecast of a median; low, high: ends of the interval, as parts of the median; `part` says
    low / high in words.
    """
    lowest, middle, highest = (min(_EVENLY_SPREAD, factor * median) for factor in (low, 1.0, high))
    return ErrorForecast(
        emd=highest,
        emd_low=lowest,
        emd_median=middle,
        quantity=_FORECAST.format(part=part),
        assumptions=_FORECAST_FROM,
    )


def _bound(distance_persons: float, persons: int, assumptions: str) -> ErrorBound:
    positive(persons=persons)
    emd = min(FARTHEST, distance_persons / persons)
    return ErrorBound(emd=emd, quantity=MAP_QUANTITY, assumptions=assumptions)


def _distance_law(
    net: Net, weights: NDArray[np.float64], step_m: float, x: float, y: float
) -> tuple[float, float]:
    """Returns (mean, 95 % quantile) of the distance from a place, in shares of width and height, to the draw.

    What is drawn beyond the table's reach, less than once in 10^9, is left out.
    """
    distances = np.sort(net.distances_m(x, y, step_m * (weights.size - 1)))
    steps = distances / step_m
    likely = np.interp(steps, np.arange(weights.size), weights)
    likely[steps >= weights.size - 1] = 0
    total = np.cumsum(likely)
    within = distances[np.searchsorted(total, _WITHIN * total[-1])]
    return float((likely * distances).sum() / total[-1]), float(within)


def _top(count: int, largest: int) -> float:
    """Returns the mean of the sum of the `largest` largest of `count` independent exponentials with mean 1.

    The j-th largest of N has mean Σ_{m=j}^N 1/m; the sum is k (1 + H_N - H_k).
    """
    return largest * (1 + _harmonic(count) - _harmonic(largest))


def _harmonic(count: int) -> float:
    return float(digamma(count + 1)) + euler_gamma
