"""Finds how much discrete Gaussian noise a distance needs: the analytic mechanism, certified on the lattice.

The law is a product of discrete Gaussians; for a shift by Δ the likeliest event is a half-space
{⟨Δ, z⟩ ≥ t}. The lattice point z stands for the unit cube around it. With u uniform in the cube, Jensen's
inequality gives E exp(-⟨z,u⟩/σ² - |u|²/2σ²) ≥ exp(-d/24σ²), and E exp(-⟨z,u⟩/σ²) ≤ exp(|z|²/24σ⁴): so sums
over lattice points lie between integrals over half-spaces moved by at most √d/2, up to factors that are
printed below. (⟨Δ,u⟩ ≤ |Δ|₁/2 ≤ √d·|Δ|/2.)
"""

import math
from typing import Final

from scipy.special import log_ndtr

from mechanisms.check import in_range

_REACH: Final = 45.0  # standard deviations; beyond it less than e^-1000 is left
_UP: Final = 1e-9  # covers the floating point of the formulas, and of what they are given


def spent_delta(epsilon: float, ratio: float) -> float:
    """Returns δ(ε) of continuous noise for a shift of `ratio` standard deviations
    (Balle, Wang 2018, Theorem 5).
    """
    return _hockey_stick(epsilon, ratio, 0.0)


def certified_delta(epsilon: float, ratio: float, *, deviation: int, dimensions: int) -> float:
    """Returns an upper bound on δ(ε) of discrete Gaussians with `deviation` steps on each axis, for any shift
    of at most `ratio` deviations. It exceeds the continuous δ by a few parts in `deviation` only."""
    cube = dimensions / (24 * deviation**2)
    far = _REACH**2 / (24 * deviation**2)
    first = _hockey_stick(epsilon, ratio, math.sqrt(dimensions) / (2 * deviation))
    # e^cube for the first half-space; of the second, e^-far is left and what lies beyond the reach is lost.
    second = math.exp(epsilon + float(log_ndtr(-ratio / 2 - epsilon / ratio)))
    return min(1.0, math.exp(cube) * (first + second * (far + cube)) * (1 + _UP) + 1e-300)


def smallest_deviation(epsilon: float, delta: float, *, dimensions: int, steps: int) -> float:
    """Returns the least σ, in units of the largest shift,
    that keeps `delta` at ε for it; never less than that.

    For a shift x times as long, x below 1, δ is kept at x·ε, too: what is certified does not fall with x.
    Let r = 1/σ, a = εσ, u = xr/2 + a, m the deviations that half-spaces move and c the part that is lost.
    By Φ(-t) ≤ φ(t)/t the derivative by x is at least r·e^(xε)·φ(u + m) times

        (e^(2am) + 1)/2 - a/(u + m) - c/2 · e^(um + m²/2).

    A δ of at most 1/2 means r/2 ≤ a + 0.675, thus um + m²/2 ≤ 2am + 0.073; with c ≤ m ≤ 1/10, as below, this
    is at least m·(0.89a + 1/(a + m) - 0.54), which is above 0.
    `steps`: lattice steps that σ will have, at least 200 and at least `dimensions`; `ParameterError` else.
    """
    in_range(200, 2**40, steps=steps)
    in_range(1, steps, dimensions=dimensions)
    most = min(delta, 0.5)

    def keeps(sigma: float) -> bool:
        return certified_delta(epsilon, 1 / sigma, deviation=steps, dimensions=dimensions) <= most

    low, high = 1e-9, 1.0
    while not keeps(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _hockey_stick(epsilon: float, ratio: float, moved: float) -> float:
    """Returns Φ(r/2 - ε/r + moved) - e^ε Φ(-r/2 - ε/r - moved), in logarithms."""
    first = float(log_ndtr(ratio / 2 - epsilon / ratio + moved))
    second = epsilon + float(log_ndtr(-ratio / 2 - epsilon / ratio - moved))
    return math.exp(first) * -math.expm1(min(0.0, second - first))
