"""Draws from the discrete Laplace law, exactly and in integers."""

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, positive, printable
from mechanisms.randomness import RandomSource
from mechanisms.samplers.bernoulli_exp import bernoulli_exp, geometric_exp
from mechanisms.samplers.uniform import uniform_below

LARGEST_NUMERATOR: Final = 2**55
LARGEST_DENOMINATOR: Final = 2**62
_WHOLE_STEPS: Final = 126  # U + t·V < t·(V + 1) stays below 2^62 up to here


def discrete_laplace(rng: RandomSource, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` independent draws with P(x) ∝ exp(-|x| / scale) on all integers.

    Exact: no floating-point number takes part (Mironov 2012 says why).
    Source: Canonne, Kamath, Steinke 2020, Algorithm 2, on whole arrays.
    Errors: `ParameterError` when the scale is not above 0, or in lowest terms its numerator exceeds
    2^55 or its denominator 2^62. A draw beyond 62 bits raises OverflowError and never wraps; with these
    limits its probability is at most exp(-127), and it depends on no data.
    """
    _check_scale(scale)
    values = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        accepted = _attempts(rng, scale, count=size - filled + (size - filled) // 8 + 8)
        block = accepted[: size - filled]  # the surplus is as random as the rest
        values[filled : filled + block.size] = block
        filled += block.size
    return values


def _attempts(rng: RandomSource, scale: Fraction, *, count: int) -> NDArray[np.int64]:
    """Returns accepted draws of about `count` rounds of the rejection loop."""
    t, s = scale.numerator, scale.denominator
    u = uniform_below(rng, t, count * 8 // 5)  # exp(-U/t) accepts 63 %
    below_t: NDArray[np.int64] = u[bernoulli_exp(rng, u, t)].astype(np.int64)
    magnitudes = _magnitudes(below_t, geometric_exp(rng, below_t.size), t, s)
    negative = (rng.words(magnitudes.size) & np.uint64(1)).astype(np.bool_)
    counted = ~(negative & (magnitudes == 0))  # else 0 would count twice
    signed: NDArray[np.int64] = np.where(negative, -magnitudes, magnitudes)[counted]
    return signed


def _magnitudes(u: NDArray[np.int64], v: NDArray[np.int64], t: int, s: int) -> NDArray[np.int64]:
    """Returns ⌊(U + t·V) / s⌋, exactly, for U < t."""
    far = np.flatnonzero(v > _WHOLE_STEPS)
    magnitudes: NDArray[np.int64] = (u + t * np.minimum(v, _WHOLE_STEPS)) // s
    for place in far.tolist():
        exact = (int(u[place]) + t * int(v[place])) // s
        if exact >= 2**62:
            raise OverflowError("a noise value does not fit 62 bits")
        magnitudes[place] = exact
    return magnitudes


def _check_scale(scale: Fraction) -> None:
    positive(scale=scale)
    if scale.numerator > LARGEST_NUMERATOR or scale.denominator > LARGEST_DENOMINATOR:
        raise ParameterError(
            "scale", printable(scale), "in lowest terms a numerator up to 2^55 and a denominator up to 2^62"
        )
