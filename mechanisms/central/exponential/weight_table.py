"""Tabulates integer weights that fall like exp(-distance), for the exponential mechanism.

Entry q stands for a distance of q steps; between entries the weight is interpolated linearly, in
integers. How much a weight can change from one distance to another is read off the table, not off exp.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

DECAY_BITS: Final = 8  # an entry is at most 1 + 2^-8 times the next one
LAST: Final = 64 << DECAY_BITS  # steps: from here on weights no longer fall, about exp(-64) of the first
PART_BITS: Final = 40  # a step has 2^40 parts
_LEAST: Final = 2**16  # the last entry: cutting to integers is felt in its fifth digit at most


@lru_cache(maxsize=1)
def weight_table() -> tuple[int, ...]:
    """Returns `(LAST + 1,)` integers, falling."""
    rising = [_LEAST]
    for _ in range(LAST):
        rising.append(rising[-1] + (rising[-1] >> DECAY_BITS))
    return tuple(reversed(rising))


def weight(table: tuple[int, ...], distance: int) -> int:
    """Returns the weight at a distance in parts of a step, times 2^PART_BITS;
    constant from the last entry on.
    """
    step, part = distance >> PART_BITS, distance & ((1 << PART_BITS) - 1)
    if step >= len(table) - 1:
        return table[-1] << PART_BITS
    return (table[step] << PART_BITS) - (table[step] - table[step + 1]) * part


@lru_cache(maxsize=4)
def steepest(table: tuple[int, ...]) -> Fraction:
    """Returns λ with weight(a) / weight(b) ≤ exp(λ · |b - a|) for all distances a, b in steps. Exact.

    Inside a step from W to W' ≤ W the weight is linear: |slope| / weight ≤ (W - W') / W', and the
    logarithm of a continuous weight changes by at most the largest such quotient a step.
    Errors: ValueError for a table that rises or has entries that are not above 0.
    """
    pairs = list(pairwise(table))
    if any(not 0 < later <= earlier for earlier, later in pairs):
        raise ValueError("weights must be above 0 and must not rise")
    return max(Fraction(earlier - later, later) for earlier, later in pairs)
