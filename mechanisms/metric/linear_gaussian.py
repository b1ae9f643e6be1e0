"""How much discrete Gaussian noise a distance needs: the analytic mechanism, certified on the lattice.

The law is a product of discrete Gaussians; for a shift by Δ the likeliest event is a half-space
{⟨Δ, z⟩ ≥ t}. The lattice point z stands for the unit cube around it. With u uniform in the cube, Jensen's
inequality gives E exp(-⟨z,u⟩/σ² - |u|²/2σ²) ≥ exp(-d/24σ²), and E exp(-⟨z,u⟩/σ²) ≤ exp(|z|²/24σ⁴): so sums
over lattice points lie between integrals over half-spaces moved by at most √d/2, up to factors that are
printed below. (⟨Δ,u⟩ ≤ |Δ|₁/2 ≤ √d·|Δ|/2.)
"""

import math
from typing import Final

from scipy.special import log_ndtr

_REACH: Final = 45.0  # standard deviations; beyond it less than e^-1000 is left
_SHARES: Final = (1.0, 0.75, 0.5, 0.25, 1 / 16, 1 / 256, 1 / 65536)
_UP: Final = 1e-9  # covers the floating point of the formulas


def spent_delta(epsilon: float, ratio: float) -> float:
    """δ(ε) of continuous noise for a shift of `ratio` standard deviations (Balle, Wang 2018, Theorem 5)."""
    return _hockey_stick(epsilon, ratio, 0.0)


def certified_delta(epsilon: float, ratio: float, *, deviation: int, dimensions: int) -> float:
    """Upper bound on δ(ε) of discrete Gaussians with `deviation` steps on each axis, for any shift of at
    most `ratio` deviations. It exceeds the continuous δ by a few parts in `deviation` only."""
    cube = dimensions / (24 * deviation**2)
    far = _REACH**2 / (24 * deviation**2)
    found = _hockey_stick(epsilon, ratio, math.sqrt(dimensions) / (2 * deviation))
    # e^cube for the first half-space; of the second, e^-far is left and what lies beyond the reach is lost.
    lost = math.exp(epsilon) * _upper(epsilon, ratio, 0.0) * (far + cube) if epsilon < 700 else 0.0
    return min(1.0, (found * math.exp(2 * (cube + far)) + 2 * lost) * (1 + _UP) + 1e-300)


def smallest_deviation(epsilon: float, delta: float, *, dimensions: int, steps: int) -> float:
    """The least σ, in units of the largest shift, that keeps `delta` at ε for it; rounded up.

    For a shift x times as long, with x below 1, δ at x · ε is to be kept, too. Without a lattice it is less,
    since the noise is log-concave; what the lattice adds is seen at the shares below.
    `steps`: lattice steps that σ will have at least. Bisection on a decreasing function.
    """

    def worst(sigma: float) -> float:
        return max(
            certified_delta(x * epsilon, x / sigma, deviation=steps, dimensions=dimensions) for x in _SHARES
        )

    low, high = 1e-9, 1.0
    while worst(high) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if worst(middle) > delta:
            low = middle
        else:
            high = middle
    return high * (1 + _UP)


def _hockey_stick(epsilon: float, ratio: float, moved: float) -> float:
    """Φ(r/2 - ε/r + moved) - e^ε Φ(-r/2 - ε/r - moved), in logarithms."""
    first = float(log_ndtr(ratio / 2 - epsilon / ratio + moved))
    second = epsilon + float(log_ndtr(-ratio / 2 - epsilon / ratio - moved))
    return math.exp(first) * -math.expm1(min(0.0, second - first))


def _upper(epsilon: float, ratio: float, moved: float) -> float:
    return math.exp(float(log_ndtr(-ratio / 2 - epsilon / ratio + moved)))
