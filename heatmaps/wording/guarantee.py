"""Words a `Guarantee` in plain sentences, for one release and for a dataset's total."""

import math
from fractions import Fraction
from typing import Final

from heatmaps.numbers import UP, amount, count, exact_length, number
from heatmaps.wording.protection import explained
from heatmaps.wording.record_distance import as_read
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation, Trust

LARGEST_FACTOR: Final = 10**12
STARTED_FROM: Final = "and those it started from"
WEAK_EPSILON: Final = 5
_EXP_ERROR: Final = Fraction(1, 10**12)  # relative, of e^ε: ε is rounded to a double, up to 700, and so is it

RELATIONS: Final = {
    Relation.ADD_REMOVE: (
        "A person is there or not: it stays uncertain whether any one person's check-ins are in the data "
        "at all. The number of people is secret."
    ),
    Relation.REPLACE: (
        "A person's record is exchanged for another: who is enrolled is public, where any one of them was "
        "stays uncertain. Short moves can be protected more strongly."
    ),
}

RELATIONS_IN_SHORT: Final = {
    Relation.ADD_REMOVE: "Hides whether any one person is in the data.",
    Relation.REPLACE: "Hides where any one person was.",
}

TRUST: Final = {
    Trust.CENTRAL: "This server's operator sees the check-ins: only what is published is protected.",
    Trust.SHUFFLE: "The shuffler must not work together with the reader of the result.",
    Trust.LOCAL: "Noise was added on each person's own device: no server has to be trusted.",
}


def sentences(
    guarantee: Guarantee, *, subject: str, radius_m: int | None = None, diameter_m: float | None = None
) -> tuple[str, ...]:
    """Says what `guarantee` promises of `subject` ("this map"), one sentence or two an entry.

    `radius_m` and `diameter_m` (metres; the region's) are used under `Relation.REPLACE` only.
    """
    if guarantee.relation is Relation.ADD_REMOVE:
        texts = _presence(guarantee, subject)
    else:
        texts = _exchange(guarantee, subject, radius_m, diameter_m)
    return (*texts, *_who_is_trusted(guarantee))


def record_loss(guarantee: Guarantee, diameter_m: float | None) -> Exact:
    """Returns the loss when a record is exchanged for any other, as it is charged.

    The next whole metre covers the rounding of the diameter.
    """
    if diameter_m is None:
        return guarantee.loss(INFINITY)
    return guarantee.exchange_loss(math.floor(diameter_m) + 1)


def decimal(value: Exact, *, digits: int = 12) -> str:
    """Writes an exact number as a plain decimal; where it has none within `digits` places, rounded up."""
    if value == INFINITY:
        return "no bound"
    scaled = math.ceil(Fraction(value) * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def loss(value: Exact) -> str:
    """Writes a loss in a sentence: four digits, rounded up. The sheet and the API have the exact one."""
    return "no bound" if value == INFINITY else amount(value)


def added(guarantee: Guarantee) -> str:
    """Words what a map costs beside those it started from."""
    loss_of_any = guarantee.loss(INFINITY)
    return f"Of this, ε = {loss(loss_of_any)} is what this map adds to those it started from."


def priced(epsilon: Exact, delta: Fraction) -> str:
    """Writes "ε = 0.5, δ = 0.000001": a loss never goes without its δ, where there is one; both rounded
    up."""
    text = f"ε = {loss(epsilon)}"
    return f"{text}, δ = {loss(delta)}" if delta else text


def factor(epsilon: Exact) -> str:
    """Writes e^ε in words of at most four digits, rounded up."""
    value = float(epsilon)
    if value > math.log(LARGEST_FACTOR):
        return "more than a million million"
    exact = math.exp(value)
    if exact >= 1000:
        step = 10 ** (math.floor(math.log10(exact)) - 2)
        return count(math.ceil(exact / step) * step)
    decimals = 4 if exact < 1.01 else 2
    return f"{math.ceil(exact * 10**decimals) / 10**decimals:.{decimals}f}"


def right_guesses(epsilon: Exact, delta: Fraction) -> str:
    """Says how often, in percent, the best test between two neighbours is right when both are equally likely.

    (e^ε + δ) / (1 + e^ε), from the trade-off of hypothesis tests (Kairouz, Oh, Viswanath 2015), rounded up.
    """
    odds = math.exp(-float(epsilon))
    share = min(1.0, (1 + float(delta) * odds) / (1 + odds))
    return number(100 * Fraction(str(share)), rounding=UP)


def _presence(guarantee: Guarantee, subject: str) -> list[str]:
    epsilon, delta = guarantee.loss(INFINITY), guarantee.delta
    if not guarantee.terms:
        return [f"Nothing about any person can be learned from {subject}."]
    if epsilon == INFINITY:
        return [f"Nothing is promised: what {subject} shows about whether a person is there has no bound."]
    whether = (
        f"Whether any one person's whole record is in the data or not changes the probability of "
        f"whatever {subject} could show by a factor of at most {factor(epsilon)} "
        f"(presence ε = {loss(epsilon)})."
    )
    guessing = _guessing("whether that person is in the data", epsilon, delta)
    return [whether, guessing, _exceptions(delta), _moved(epsilon, delta)]


def delta_of_a_move(epsilon: Exact, delta: Fraction) -> Fraction:
    """Returns δ(1 + e^ε) of two steps of (ε, δ), which cost 2ε (group privacy), rounded up."""
    odds = Fraction(math.exp(min(float(epsilon), 700.0))) * (1 + _EXP_ERROR)
    return min(Fraction(1), delta * (1 + odds))


def _moved(epsilon: Exact, delta: Fraction) -> str:
    twice = delta_of_a_move(epsilon, delta)
    return (
        f"Moving a person's record elsewhere is a removal and an addition: a factor of at most "
        f"{factor(2 * epsilon)} ({priced(2 * epsilon, twice)}); nothing smaller is claimed for short moves."
    )


def _exchange(
    guarantee: Guarantee, subject: str, radius_m: int | None, diameter_m: float | None
) -> list[str]:
    if not guarantee.terms:
        return [f"Nothing about any person can be learned from {subject}."]
    texts = [_exchange_record(record_loss(guarantee, diameter_m), guarantee.delta, subject)]
    if radius_m is not None:
        texts.append(_exchange_radius(guarantee.loss(radius_m), guarantee.delta, radius_m))
        if diameter_m is not None:
            texts.extend(explained(guarantee, radius_m=radius_m, diameter_m=diameter_m))
        texts.append(as_read(guarantee.delta))
    return [
        *texts,
        _exceptions(guarantee.delta),
        "The number of people enrolled is public and not protected.",
    ]


def _exchange_record(epsilon: Exact, delta: Fraction, subject: str) -> str:
    if epsilon == INFINITY:
        return f"For the exchange of a whole record against any other, {subject} carries no bound."
    return (
        f"Exchanging one person's whole record for any other changes the probability of whatever {subject} "
        f"could show by a factor of at most {factor(epsilon)} (whole record ε = {loss(epsilon)}). "
        + _guessing("which of two records a person has", epsilon, delta)
    )


def _exchange_radius(epsilon: Exact, delta: Fraction, radius_m: int) -> str:
    if epsilon == INFINITY:
        return f"For moves of up to {exact_length(radius_m)} there is no bound either."
    return (
        f"If the two records are within {exact_length(radius_m)} of each other (earth mover's distance), "
        f"the factor is at most {factor(epsilon)} (radius ε = {loss(epsilon)}), and such a guess is right "
        f"at most {right_guesses(epsilon, delta)} % of the time."
    )


def _guessing(what: str, epsilon: Exact, delta: Fraction) -> str:
    weak = " That is a weak promise." if epsilon > WEAK_EPSILON else ""
    return (
        f"Someone who knows everything else and could only toss a coin about {what} "
        f"is right at most {right_guesses(epsilon, delta)} % of the time afterwards.{weak}"
    )


def _exceptions(delta: Fraction) -> str:
    if delta == 0:
        return "This holds without exception (δ = 0)."
    chance = f", at most one in {count(math.floor(1 / delta))}" if delta < 1 else ""
    return f"On top of the factor a probability may differ by δ = {loss(delta)}{chance}."


def _who_is_trusted(guarantee: Guarantee) -> list[str]:
    texts = [TRUST[guarantee.trust]]
    if guarantee.simulated and guarantee.trust is Trust.LOCAL:
        texts.append(
            "One operator runs both the shuffler and this server: what is promised is what is left without a "
            "shuffler."
        )
    elif guarantee.simulated:
        texts.append(
            "What people's devices would do was simulated on stored check-ins, so it asks for the same trust."
        )
    left = guarantee.if_shuffler_fails
    if left is not None:
        promise = priced(left.loss(INFINITY), left.delta)
        texts.append(f"If the shuffler does collude, what is left is {promise}.")
    return texts
