"""Draws symmetric integer noise: the two-sided geometric law, SGDL(β, e^−ε), and both cut to a padding."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, positive
from mechanisms.randomness import RandomSource
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.samplers.negative_binomial import negative_binomial, table

Draw = Callable[[int], NDArray[np.int64]]


def two_sided_geometric(rng: RandomSource, *, epsilon: Fraction, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` draws with P(x) ∝ e^(−ε|x|), exactly: the discrete Laplace law of scale 1/ε."""
    positive(epsilon=epsilon)
    return discrete_laplace(rng, scale=1 / Fraction(epsilon), size=size)


def sgdl_noise(rng: RandomSource, *, shape: Fraction, epsilon: Fraction, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` draws of SGDL(shape, e^−ε), the difference of two negative binomial draws.

    Exact for shape 1; else within `total_variation` each.
    """
    if shape == 1:
        return two_sided_geometric(rng, epsilon=epsilon, size=size)
    first, second = (negative_binomial(rng, shape=shape, epsilon=epsilon, size=size) for _ in range(2))
    return first - second


def conditioned_noise(
    rng: RandomSource, *, shape: Fraction, epsilon: Fraction, padding: int, size: int
) -> NDArray[np.int64]:
    """Returns `(size,)` draws of SGDL(shape, e^−ε) given |x| ≤ padding: drawn again until they are.

    How often depends on no data.
    """
    return _within(lambda count: sgdl_noise(rng, shape=shape, epsilon=epsilon, size=count), padding, size)


def total_variation(*, shape: Fraction, epsilon: Fraction) -> Fraction:
    """Returns a bound on the total variation between a draw here and its law; 0 for shape 1.

    Two tables are drawn from; a draw that is conditioned on an event of probability at least 1/2 is at most
    four times as far off: |P(E ∩ A)/P(A) − Q(E ∩ A)/Q(A)| ≤ 2·TV/P(A).
    """
    return Fraction(0) if shape == 1 else 8 * table(shape, epsilon).total_variation


def _within(draw: Draw, padding: int, size: int) -> NDArray[np.int64]:
    if padding < 0:
        raise ParameterError("padding", padding, "at least 0")
    values = draw(size)
    outside = np.flatnonzero(np.abs(values) > padding)
    while outside.size:
        values[outside] = draw(outside.size)
        outside = outside[np.abs(values[outside]) > padding]
    return values
