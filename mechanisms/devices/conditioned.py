"""Writes the law of noise that stays within a padding as integers, for devices that draw by comparison alone.

The law is SGDL(shape, e^−ε) given |x| ≤ c. Let u be its weights, U their sum, w integers with Σ|w − u| ≤ r·U:
w divided by their sum are within r of the law in total variation, since half of Σ|w/W − u/U| is at most
(Σ|w − u| + |W − U|)/(2U). Cutting them to multiples of 2^(−8·number_bytes) with what is left over given to 0
moves at most (2c + 1)·2^(−8·number_bytes).

- Shape 1: w(k) = ⌊e^(−εk)·2^b⌋ or one less, so that r ≤ (2c + 1)·2^−b, since u(0) = 2^b.
- Else two tables of the negative binomial law, each within t of it, and cut to multiples of 2^−b, at most
  (length)·2^−b more: their difference is within 2·(t + length·2^−b), given |x| ≤ c (of probability at least
  1/2) within four times that, as in `mechanisms.samplers.two_sided.total_variation`.
"""

from fractions import Fraction
from functools import lru_cache
from operator import mul
from typing import Final

from mechanisms.devices.tables import running_sums
from mechanisms.samplers.negative_binomial import exp_minus, table

_SPARE_BITS: Final = 64  # of weights beyond those of the table


@lru_cache(maxsize=32)
def conditioned_table(shape: Fraction, epsilon: Fraction, padding: int, number_bytes: int) -> bytes:
    """Returns running sums on −c … c without the last one, `number_bytes` each, big-endian."""
    bits = 8 * number_bytes + _SPARE_BITS
    if shape == 1:
        half = [exp_minus(epsilon * k, bits) if k else 1 << bits for k in range(padding + 1)]
    else:
        weights = _cut(shape, epsilon, bits)
        half = [sum(map(mul, weights, weights[k:])) for k in range(padding + 1)]
    whole = 1 << 8 * number_bytes
    total = half[0] + 2 * sum(half[1:])
    scaled = [weight * whole // total for weight in half]
    scaled[0] += whole - scaled[0] - 2 * sum(scaled[1:])
    return running_sums(scaled[:0:-1] + scaled, number_bytes)


def off_by(shape: Fraction, epsilon: Fraction, padding: int, number_bytes: int) -> Fraction:
    """Returns a bound on the total variation between a draw from the table and the law (proof above)."""
    bits = 8 * number_bytes + _SPARE_BITS
    entries = 2 * padding + 1
    rounded = Fraction(entries, 1 << 8 * number_bytes)
    if shape == 1:
        return rounded + Fraction(entries, 1 << bits)
    exact = table(shape, epsilon)
    return rounded + 8 * (exact.total_variation + Fraction(len(exact.ends), 1 << bits))


def _cut(shape: Fraction, epsilon: Fraction, bits: int) -> list[int]:
    """Returns the negative binomial law in multiples of 2^−bits, rounded down."""
    ends = table(shape, epsilon).ends
    shift = ends[-1].bit_length() - 1 - bits
    starts = (0, *ends[:-1])
    weights = [(end - start) >> shift for start, end in zip(starts, ends, strict=True)]
    while weights and not weights[-1]:
        weights.pop()
    return weights
