"""Draws Pólya numbers of any small rate as sums of clusters: shares of wide geometric noise, nearly always 0.

NB(β, 1 − e^−ε) is a sum of a Poisson number, of mean −β·log(1 − e^−ε), of clusters with P(k) ∝ e^−εk / k
(Quenouille 1949). `negative_binomial` holds a table as long as the law is wide; here nothing grows so.
"""

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, positive, printable
from mechanisms.randomness import RandomSource
from mechanisms.samplers.bernoulli_exp import bernoulli_exp, geometric_exp
from mechanisms.samplers.negative_binomial import BITS, DrawTable, table_of
from mechanisms.samplers.uniform import uniform_below

LARGEST_SCALE: Final = 2**40
SCALE_PARTS: Final = 16  # scales are multiples of a sixteenth, so that every product stays below 2^63
_FARTHEST: Final = 400  # scales; what lies beyond has less than e^-400 of a cluster's law
_DIGITS: Final = 260
# The Poisson table stops at 2^-400 and its entries are cut at 2^-640; a cluster that is too large is rarer.
TOTAL_VARIATION: Final = Fraction(1, 2**380)  # of one draw


def clustered_polya(rng: RandomSource, *, shape: Fraction, scale: Fraction, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` draws of NB(shape, 1 − e^(−1/scale)), each within `TOTAL_VARIATION` of it.

    Errors: `ParameterError` for a shape outside (0, 1], or a scale that is no multiple of a sixteenth up to
    2^40.
    """
    counts = cluster_counts(_checked(shape), _checked_scale(scale)).draw(rng, size)
    totals = np.zeros(size, dtype=np.int64)
    clusters = log_series(rng, scale=scale, size=int(counts.sum()))
    np.add.at(totals, np.repeat(np.arange(size), counts), clusters)
    return totals


def log_series(rng: RandomSource, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` draws with P(k) ∝ e^(−k/scale) / k for k = 1, 2, … up to beyond 400 scales, exactly.

    An octave 2^j ≤ k < 2^(j+1) is proposed at random and k in it, and taken with probability
    2^j/k · e^(−(k − 1)/scale).
    """
    octaves = _octaves(_checked_scale(scale))
    draws = [np.empty(0, np.int64)]
    missing = size
    while missing > 0:
        accepted = _attempts(rng, scale, octaves, 4 * missing + 8)[:missing]
        draws.append(accepted)
        missing -= accepted.size
    return np.concatenate(draws)


def _octaves(scale: Fraction) -> int:
    """Returns the number of octaves that have all numbers up to `_FARTHEST` scales."""
    return int(_FARTHEST * scale).bit_length()


def _attempts(rng: RandomSource, scale: Fraction, octaves: int, count: int) -> NDArray[np.int64]:
    octave = uniform_below(rng, octaves, count)
    first = np.uint64(1) << octave
    k = first + (rng.words(count) & (first - np.uint64(1)))
    k = k[_uniform_below_each(rng, k) < first]  # 2^j / k
    exponent = (k - np.uint64(1)) * np.uint64(scale.denominator)
    whole, rest = np.divmod(exponent, np.uint64(scale.numerator))
    is_accepted = geometric_exp(rng, k.size) >= whole.astype(np.int64)
    is_accepted &= bernoulli_exp(rng, rest, scale.numerator)
    accepted: NDArray[np.int64] = k[is_accepted].astype(np.int64)
    return accepted


def _uniform_below_each(rng: RandomSource, bounds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns `(size,)` uniform integers, each below its own bound; as `uniform_below`."""
    largest = np.uint64(2**64 - 1)
    last_good = largest - (largest % bounds + np.uint64(1)) % bounds
    words = np.array(rng.words(bounds.size))
    redrawn = np.flatnonzero(words > last_good)
    while redrawn.size:
        words[redrawn] = rng.words(redrawn.size)
        redrawn = redrawn[words[redrawn] > last_good[redrawn]]
    return words % bounds


@lru_cache(maxsize=64)
def cluster_counts(shape: Fraction, scale: Fraction) -> DrawTable:
    """Returns the Poisson law of mean −shape · log(1 − e^(−1/scale)), as integers."""
    context = Context(prec=_DIGITS, Emin=-999_999, Emax=999_999)
    rate = context.divide(Decimal(scale.denominator), Decimal(scale.numerator))
    chance = context.subtract(Decimal(1), context.exp(context.minus(rate)))
    mean = context.minus(context.ln(chance))
    mean = context.divide(context.multiply(mean, Decimal(shape.numerator)), Decimal(shape.denominator))
    step = int(context.multiply(mean, Decimal(1 << BITS)))
    weights = [1 << BITS]
    while weights[-1] << 400 > weights[0]:
        weights.append((weights[-1] * step // len(weights)) >> BITS)
    return table_of(weights, TOTAL_VARIATION / 2)


def _checked(shape: Fraction) -> Fraction:
    positive(shape=shape)
    if shape > 1:
        raise ParameterError("shape", printable(shape), "at most 1")
    return Fraction(shape)


def _checked_scale(scale: Fraction) -> Fraction:
    positive(scale=scale)
    if scale > LARGEST_SCALE or SCALE_PARTS % Fraction(scale).denominator:
        raise ParameterError("scale", printable(scale), "a multiple of 1/16 up to 2^40")
    return Fraction(scale)
