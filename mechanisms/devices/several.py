"""States what several reports of one person in one round cost together."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from mechanisms.candidate_net import rounded_up
from mechanisms.check import whole
from mechanisms.guarantee import INFINITY, Guarantee, Trust
from mechanisms.local.reports import repeated, term_of_mean

MOST_A_PERSON: Final = 100  # reports in one round
_MOST_LOSS: Final = 300  # beyond, any δ has become 1
_CONTEXT: Final = Context(prec=60, rounding=ROUND_CEILING)
_UP: Final = Fraction(1, 10**50)  # Decimal's exponential is rounded to the nearest


def several(guarantee: Guarantee, reports: int, *, diameter_m: float) -> Guarantee:
    """Returns the guarantee of `reports` reports of one person in one round;
    d is the mean of the distances they move.

    LOCAL without δ: `repeated`. Else each report may be changed by itself while all others, which are random
    on their own, stay: a chain of `reports` changes at distances d_i with mean d (of two records of equally
    many points the earth mover's distance pairs them). By the triangle inequality of hockey sticks, write
    P_0, P_1, … for the laws along the chain and ε_i for the loss of change i: for every event E
    P_0(E) ≤ e^ε_1 · P_1(E) + δ ≤ … ≤ e^(ε_1 + … + ε_k) · P_k(E) + δ · (1 + e^ε_1 + e^(ε_1 + ε_2) + …),
    so that losses add up (`term_of_mean`) and δ becomes at most δ · (e^(kε) − 1) / (e^ε − 1), ε the largest
    of the ε_i.

    Where nothing is promised beyond D = `max_distance_m` less than the region's diameter, one d_i may exceed
    D although their mean does not. Such a move is made in ⌈d_i / D⌉ equal steps on the straight line in the
    region's projection, where the promise is proved: with Σ d_i ≤ k·D these are at most 2k − 1 changes in
    all, and `offset_m` and what rounding to `step_m` adds, which each change has, count so often.

    Without the shuffler reports are seen apart: where nothing has a bound on distance, losses and δ add up.
    Errors: `ParameterError`.
    """
    whole(1, MOST_A_PERSON, reports_per_person=reports)
    if reports == 1:
        return guarantee
    fails = guarantee.if_shuffler_fails
    is_near = guarantee.max_distance_m < diameter_m
    if guarantee.trust is Trust.LOCAL and not guarantee.delta and not is_near:
        return repeated(guarantee, reports)
    changes = 2 * reports - 1 if is_near else reports
    farthest_m = guarantee.max_distance_m if is_near else Fraction(diameter_m)
    apart = guarantee.trust is Trust.LOCAL and not is_near
    return Guarantee(
        relation=guarantee.relation,
        delta=min(Fraction(1), guarantee.delta * reports)
        if apart
        else _chained(guarantee, changes, farthest_m),
        trust=guarantee.trust,
        max_distance_m=guarantee.max_distance_m,
        terms=tuple(term_of_mean(term, reports=reports, changes=changes) for term in guarantee.terms),
        if_shuffler_fails=None if fails is None else several(fails, reports, diameter_m=diameter_m),
    )


def _chained(guarantee: Guarantee, changes: int, farthest_m: Fraction | float) -> Fraction:
    """Returns δ · (e^(kε) − 1) / (e^ε − 1), rounded up; at most 1."""
    if not guarantee.delta:
        return Fraction(0)
    loss = guarantee.loss(farthest_m)
    if loss == INFINITY or loss * changes > _MOST_LOSS:
        return Fraction(1)
    exact = Fraction(loss)
    power = Fraction(_CONTEXT.exp(_CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator))))
    power *= 1 + _UP
    chain = sum((power**index for index in range(changes)), start=Fraction(0))
    return min(Fraction(1), rounded_up(guarantee.delta * chain))
