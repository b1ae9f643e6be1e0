"""Divides the budget of the sparse reconstruction among the levels of the pyramid."""

from fractions import Fraction
from typing import Final

_PRECISION: Final = 2**16


def start_level(width: int, level: int) -> int:
    """Returns q = ⌊log2 √width⌋, the finest level whose cells are all kept;
    never beyond the grid's own level.
    """
    return min((width.bit_length() - 1) // 2, level)


def shares(decay: Fraction, count: int) -> tuple[Fraction, ...]:
    """Returns shares of the budget for levels q, q+1, …, proportional to decay^(i-q): exact, above 0, sum 1.

    The powers are cut to 16 binary digits so that noise scales stay short; dividing by the sum of what
    was cut, not by the ideal sum, is what makes the shares add up to 1 exactly.
    """
    weights = [max(1, int(_PRECISION * decay**i)) for i in range(count)]
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)
