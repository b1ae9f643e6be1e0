"""Converts a privacy budget to integers: one person's reach, the mass unit, and the width of the noise."""

from fractions import Fraction
from typing import Final

from mechanisms.check import ParameterError, exact_decimal, power_of_two
from mechanisms.guarantee import Relation
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import LARGEST_NUMERATOR

HIGHEST_EPSILON: Final = 10**9
LARGEST_UNIT: Final = 2**24  # mass units of a person: a share is cut by less than 6e-8
SMALLEST_UNIT: Final = 2**10
LARGEST_SCALE: Final = 2**53  # mass units; with masses below 2^62 every noisy sum fits 63 bits


def sensitivity(relation: Relation) -> int:
    """Returns the number of persons' masses that the sum can change by, in L1, between neighbours.

    A record has mass at most 1. Exchanging it takes one mass away and brings another.
    """
    return {Relation.ADD_REMOVE: 1, Relation.REPLACE: 2}[Relation(relation)]


def checked_epsilon(epsilon: Fraction, *, least: Fraction = Fraction(0)) -> Fraction:
    """Returns epsilon, exact and within what integers can carry out. Errors: `ParameterError`."""
    exact = exact_decimal("epsilon", epsilon, low=0, low_open=True, high=HIGHEST_EPSILON)
    if exact < least:
        raise ParameterError("epsilon", exact, f"at least {float(least):g}")
    return exact


def only_replace(relation: Relation) -> Relation:
    """Refuses other relations than REPLACE, for guarantees that are about moves: who is enrolled is public
    there. Errors: `ParameterError`.
    """
    if Relation(relation) is not Relation.REPLACE:
        raise ParameterError("relation", Relation(relation), Relation.REPLACE)
    return Relation.REPLACE


def level_of(resolution: int, *, highest: int) -> int:
    """Returns ℓ for 2^ℓ cells a side. Errors: `ParameterError` naming `resolution`."""
    power_of_two(2, highest, resolution=resolution)
    return resolution.bit_length() - 1


def mass_unit(relation: Relation, epsilon: Fraction, *, smallest_share: Fraction = Fraction(1)) -> int:
    """Returns the largest power of two up to 2^24 for which the widest noise stays within 2^53 mass units.

    `smallest_share` is the smallest part of epsilon that one measurement gets. Public parameters only.
    Errors: `ParameterError` naming `epsilon` when that is below 2^10.
    """
    widest_persons = sensitivity(relation) / (epsilon * smallest_share)
    most = int(LARGEST_SCALE / widest_persons)
    if most < SMALLEST_UNIT:
        lowest = float(epsilon * SMALLEST_UNIT * widest_persons / LARGEST_SCALE)
        raise ParameterError("epsilon", epsilon, f"at least {lowest * 1.001:.2e} with these parameters")
    return min(LARGEST_UNIT, 1 << (most.bit_length() - 1))


def noise_scale(relation: Relation, epsilon: Fraction, unit: int) -> Fraction:
    """Returns the scale of discrete Laplace noise, in mass units,
    that costs at most epsilon per measured vector.

    scale = sensitivity · unit / epsilon (Dwork, McSherry, Nissim, Smith 2006, in integers: Ghosh,
    Roughgarden, Sundararajan 2012). Rounded up, so never more is spent, when the exact ratio has more
    digits than the sampler carries. Errors: `ParameterError` naming `epsilon` where no integers carry it.
    """
    scale = sensitivity(relation) * unit / epsilon
    if scale.numerator <= LARGEST_NUMERATOR:
        return scale
    if scale > LARGEST_SCALE:
        least = float(epsilon * scale / LARGEST_SCALE)
        raise ParameterError("epsilon", epsilon, f"at least {least * 1.001:.2e} with these parameters")
    parts = 1 << (LARGEST_NUMERATOR.bit_length() - 1 - int(scale).bit_length())
    return Fraction(-(-scale.numerator * parts // scale.denominator), parts)


def check_masses(masses: MassMap, *, level: int, unit: int) -> None:
    """Refuses masses that are not on the mechanism's grid and in its unit.
    Errors: `ParameterError`, public facts only.
    """
    if (masses.level, masses.unit) != (level, unit):
        grid = f"level {masses.level}, unit {masses.unit}"
        raise ParameterError("masses", grid, f"level {level}, unit {unit}")
