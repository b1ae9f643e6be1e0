"""Draws noise of emd-linear on integer lattices exactly: the K-norm law and discrete Gaussians."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.candidate_net import rounded_up
from mechanisms.check import ParameterError, in_range, positive
from mechanisms.randomness import RandomSource
from mechanisms.samplers.bernoulli_exp import geometric_exp
from mechanisms.samplers.discrete_laplace import LARGEST_NUMERATOR, discrete_laplace
from mechanisms.samplers.uniform import integer_below

MOST_DIMENSIONS: Final = 12  # one attempt in 20 is kept there, three in four in the plane
LARGEST_DEVIATION: Final = 2**50  # lattice steps
_SURPLUS: Final = 8
_NARROWEST: Final = Fraction(1, 256)  # steps; narrower proposals would gain nothing

Integers = NDArray[np.int64]


def norm(offset: Sequence[int], steps: Sequence[int]) -> int:
    """Returns ⌈√Σ (step · offset)²⌉: at most 1 more than the Euclidean length, in the unit of the steps."""
    square = sum((step * part) ** 2 for step, part in zip(steps, offset, strict=True))
    root = math.isqrt(square)
    return root + (root * root < square)


def k_norm(rng: RandomSource, *, steps: Sequence[int], scale: Fraction, size: int) -> Integers:
    """Returns `(size, d)` draws with P(z) ∝ exp(-norm(z) / scale) on all integer vectors, exactly.

    steps: the lattice's step on each of the d axes, in one unit; scale: in that unit. Two shifts of the law
    by vectors of length D apart differ by a factor of at most exp((D + 1) / scale): norm is within 1 of
    a norm. In the limit of small steps it is g·U of Hardt, Talwar 2010 (Algorithm 1 of Imola et al. 2024)
    for the Euclidean norm: mean length d · scale.
    Rejection from independent discrete Laplace laws: Σ step·|z| ≤ √d · norm.
    Errors: `ParameterError` for more than `MOST_DIMENSIONS` axes or a scale beyond the sampler's digits.
    """
    in_range(1, MOST_DIMENSIONS, dimensions=len(steps))
    positive(scale=scale)
    proposals = _proposals(steps, scale)
    draws: list[Integers] = []
    filled = 0
    while filled < size:
        count = size - filled + (size - filled) // 2 + _SURPLUS
        tried = np.stack([discrete_laplace(rng, scale=b, size=count) for b in proposals], axis=1)
        accepted = tried[_coins(rng, [_excess(z, steps, scale, proposals) for z in tried.tolist()])]
        draws.append(accepted)
        filled += len(accepted)
    return np.concatenate(draws)[:size]


def discrete_gaussian(rng: RandomSource, *, deviation: int, size: int) -> Integers:
    """Returns `(size,)` draws with P(z) ∝ exp(-z² / (2 · deviation²)) on all integers, exactly.

    Canonne, Kamath, Steinke 2020, Algorithm 3, with t = σ: z from the discrete Laplace law of scale σ is kept
    with probability exp(-(|z| - σ)² / (2σ²)). Errors: `ParameterError` for a deviation out of range.
    """
    in_range(1, LARGEST_DEVIATION, deviation=deviation)
    draws: list[Integers] = []
    filled, twice = 0, 2 * deviation * deviation
    while filled < size:
        count = size - filled + (size - filled) // 2 + _SURPLUS
        tried = discrete_laplace(rng, scale=Fraction(deviation), size=count)
        accepted = tried[_coins(rng, [((abs(z) - deviation) ** 2, twice) for z in tried.tolist()])]
        draws.append(accepted)
        filled += len(accepted)
    return np.concatenate(draws)[:size]


def _proposals(steps: Sequence[int], scale: Fraction) -> list[Fraction]:
    """Returns scales, in steps, of laws that fall no faster than the one wanted:
    scale · √d / step, rounded up.
    """
    d = len(steps)
    root = Fraction(1) if d == 1 else Fraction(math.isqrt(d << 80) + 1, 1 << 40)
    wide = [max(rounded_up(scale * root / step), _NARROWEST) for step in steps]
    if max(b.numerator for b in wide) > LARGEST_NUMERATOR:
        allowed = f"at most {LARGEST_NUMERATOR} lattice steps"
        raise ParameterError("scale", f"{float(max(wide)):.3g} steps", allowed)
    return wide


def _excess(
    offset: Sequence[int], steps: Sequence[int], scale: Fraction, proposals: Sequence[Fraction]
) -> tuple[int, int]:
    """Returns norm/scale - Σ |z|/b as numerator and denominator; at least 0."""
    top, bottom = norm(offset, steps) * scale.denominator, scale.numerator
    for part, b in zip(offset, proposals, strict=True):
        top, bottom = top * b.numerator - abs(part) * b.denominator * bottom, bottom * b.numerator
    return top, bottom


def _coins(rng: RandomSource, exponents: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Returns True with probability exp(-top / bottom) each, exactly, for integers of any size."""
    if any(top < 0 for top, _ in exponents):
        raise ArithmeticError("a proposal falls faster than the law")  # impossible: Cauchy-Schwarz
    whole = np.array([top // bottom for top, bottom in exponents], dtype=object)
    heads = geometric_exp(rng, len(exponents)) >= whole  # P(at least m heads of exp(-1) coins) = exp(-m)
    for place in np.flatnonzero(heads).tolist():
        top, bottom = exponents[place]
        heads[place] = _coin(rng, top % bottom, bottom)
    return heads.astype(np.bool_)


def _coin(rng: RandomSource, top: int, bottom: int) -> bool:
    """Tosses a coin of exp(-p) for p = top/bottom below 1: Canonne, Kamath, Steinke 2020, Algorithm 1."""
    k = 1
    while integer_below(rng, bottom * k) < top:
        k += 1
    return k % 2 == 1
