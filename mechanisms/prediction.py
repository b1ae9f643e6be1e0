"""Predicted errors: bounds from public facts alone, for quotes before anything is spent or read.

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
from typing import Final

from numpy import euler_gamma
from scipy.special import digamma

from mechanisms.check import positive

FARTHEST: Final = 2.0  # L1 diameter of the unit square
_QUANTITY: Final = (
    "Upper bound on the expected earth mover's distance between the released and the true map, both with "
    "sum 1, with L1 distance on the unit square, where 2 is the largest possible value."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBound:
    """A documented bound on the expected earth mover's distance of the normalised map.

    `emd` is on the unit square with L1 ground distance, capped at its largest possible value.
    `quantity` and `assumptions` are one plain sentence each: what is bounded, and what is left out.
    """

    emd: float
    quantity: str
    assumptions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNoise:
    """Laplace noise of the measurements of one quadtree level; its mean absolute value is the scale."""

    level: int
    scale_persons: float


def noise_in_every_cell(scale_persons: float, *, cells: int, persons: int) -> ErrorBound:
    """min(2, 2 · cells · scale / n): each unit of noise moves a unit of mass by at most 2."""
    return _bound(
        2 * cells * scale_persons,
        persons,
        "Holds for all data when the number of persons is right, and is far above what is usually seen.",
    )


def noise_with_selection(scale_persons: float, *, cells: int, kept: int, persons: int) -> ErrorBound:
    """2 · scale · (T(2v) + T(k)) / n for k kept cells and v = min(k, cells - k) that may be missed.

    A missed cell's mass is at most the noise of the cell kept in its place minus its own, so noise counts
    twice where a cell is kept wrongly, once in a missed cell and in the other kept ones.
    """
    missed = min(kept, cells - kept)
    noise = _top(cells, missed) + _top(cells, missed + kept)
    return _bound(
        2 * scale_persons * noise,
        persons,
        f"Holds when the number of persons is right and at most {kept} cells are occupied; what the mass "
        "in further cells adds is left out.",
    )


def sparse_reconstruction(levels: Sequence[LevelNoise], *, width: int, persons: int) -> ErrorBound:
    """Theorem 3.1 of Ghazi et al. 2022 with its constants worked out, for data of at most `width` occupied
    cells a level.

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
        kept = min(width, candidates)
        missed = min(kept, candidates - kept)
        noise = _top(candidates, missed) + _top(candidates, 2 * missed) + _top(candidates, kept + missed)
        total += level.scale_persons * noise / 2**level.level
        candidates = 4 * kept
    coarsest = levels[0].scale_persons * 4**first
    return _bound(
        (2 ** (first + 1) + 1) * total + (2 - 2**-first) * coarsest,
        persons,
        f"Holds when the number of persons is right and at most {width} cells are occupied on every level; "
        "what data that are less sparse add is left out, and errors usually seen are far below it.",
    )


def _bound(distance_persons: float, persons: int, assumptions: str) -> ErrorBound:
    positive(persons=persons)
    emd = min(FARTHEST, distance_persons / persons)
    return ErrorBound(emd=emd, quantity=_QUANTITY, assumptions=assumptions)


def _top(count: int, largest: int) -> float:
    """Mean of the sum of the `largest` largest of `count` independent exponentials with mean 1.

    The j-th largest of N has mean Σ_{m=j}^N 1/m; the sum is k (1 + H_N - H_k).
    """
    return largest * (1 + _harmonic(count) - _harmonic(largest))


def _harmonic(count: int) -> float:
    return float(digamma(count + 1)) + euler_gamma
