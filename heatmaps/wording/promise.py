"""Words a `Guarantee` in one plain sentence; `heatmaps.wording.guarantee` says all of it."""

import math
from fractions import Fraction
from typing import Final

from heatmaps.numbers import count, exact_length
from heatmaps.wording.guarantee import LARGEST_FACTOR, WEAK_EPSILON, factor, loss, record_loss
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation, Trust

_PRESENCE: Final = "Whether any one person is in the data"
_RECORD: Final = "Exchanging one person's whole record for any other"


def promise(
    guarantee: Guarantee, *, subject: str, radius_m: int | None = None, diameter_m: float | None = None
) -> str:
    """Says what `guarantee` promises of `subject` ("this map"), never more than it holds.

    `radius_m` and `diameter_m` (metres; the region's) are used under `Relation.REPLACE` only.
    """
    if not guarantee.terms:
        return f"Nothing about any person can be learned from {subject}."
    if guarantee.delta >= 1:
        return _nothing(subject)
    if guarantee.relation is Relation.ADD_REMOVE:
        return _sentence(guarantee, _PRESENCE, "presence", guarantee.loss(INFINITY), subject)
    whole = record_loss(guarantee, diameter_m)
    near = INFINITY if radius_m is None else guarantee.loss(radius_m)
    if radius_m is None or near >= whole:
        return _sentence(guarantee, _RECORD, "whole record", whole, subject)
    # Each, and inside: then no version, opt-out or retention makes the distance longer than the radius.
    moving = f"Moving each of one person's check-ins by up to {exact_length(radius_m)} inside the region"
    return _sentence(guarantee, moving, "radius", near, subject, other_loss=whole)


def _sentence(
    guarantee: Guarantee,
    change: str,
    name: str,
    epsilon: Exact,
    subject: str,
    *,
    other_loss: Exact | None = None,
) -> str:
    """Words the promise. other_loss: the loss of changes that are no short moves, where it is another one."""
    if epsilon == INFINITY:
        return _nothing(subject)
    weak = ", which is a weak promise" if epsilon > WEAK_EPSILON and not _is_useless(epsilon) else ""
    effect = f"the chance of anything {subject} could show by {_times(epsilon, name)}{weak}"
    ends = f"{_ends(guarantee.delta, other_loss)}{_condition(guarantee)}."
    if _is_useless(epsilon):
        return f"Almost nothing is promised: {change[0].lower()}{change[1:]} may change {effect}{ends}"
    return f"{change} changes {effect}{ends}"


def _nothing(subject: str) -> str:
    return f"Nothing is promised: what {subject} can show about any one person has no bound."


def _ends(delta: Fraction, other_loss: Exact | None) -> str:
    """Says what else is promised. A δ comes on top of every factor."""
    exceptions = f"plus at most one in {count(math.floor(1 / delta))} (δ = {loss(delta)})" if delta else ""
    if other_loss is not None and other_loss <= WEAK_EPSILON:
        both = f"; in both cases {exceptions}" if delta else ""
        return f"; any other change, by {_times(other_loss, 'whole record')}{both}"
    beside = f", {exceptions}" if delta else ""
    if other_loss is None:
        return beside
    if other_loss == INFINITY:
        return f"{beside}; other changes have no bound"
    return f"{beside}; other changes are hardly protected (whole record ε = {loss(other_loss)})"


def _times(epsilon: Exact, name: str) -> str:
    most = "" if _is_useless(epsilon) else "at most "
    return f"a factor of {most}{factor(epsilon)} ({name} ε = {loss(epsilon)})"


def _condition(guarantee: Guarantee) -> str:
    if guarantee.trust is not Trust.SHUFFLE and guarantee.if_shuffler_fails is None:
        return ""
    return ", as long as the shuffler does not work together with its reader"


def _is_useless(epsilon: Exact) -> bool:
    return float(epsilon) > math.log(LARGEST_FACTOR)
