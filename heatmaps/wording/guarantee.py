"""Plain sentences about privacy, generated from a `Guarantee`: for one release and for a dataset's total."""

import math
from fractions import Fraction
from typing import Final

from heatmaps.wording.plan import explained
from mechanisms.guarantee import INFINITY, Exact, Guarantee, Relation, Trust

_LARGEST_FACTOR: Final = 10**12
_WEAK_EPSILON: Final = 5

RELATIONS: Final = {
    Relation.ADD_REMOVE: (
        "A person is there or not: it stays uncertain whether any one person's check-ins are in the data "
        "at all. The number of persons is secret."
    ),
    Relation.REPLACE: (
        "A person's record is exchanged for another: everybody knows who is enrolled and how many, "
        "but where any one person was stays uncertain; short moves can be protected more strongly."
    ),
}

TRUST: Final = {
    Trust.CENTRAL: "Whoever runs this server sees the check-ins: what is published is protected.",
    Trust.SHUFFLE: "The shuffler must not work together with whoever reads the result.",
    Trust.LOCAL: "Noise was added on each person's own device: no server has to be trusted.",
}


def sentences(
    guarantee: Guarantee, *, subject: str, radius_m: int | None = None, diameter_m: float | None = None
) -> tuple[str, ...]:
    """What `guarantee` says of `subject` ("this map"), one sentence or two an entry.

    `radius_m` and `diameter_m` (metres; the region's) are used under `Relation.REPLACE` only.
    """
    if guarantee.relation is Relation.ADD_REMOVE:
        said = _presence(guarantee, subject)
    else:
        said = _exchange(guarantee, subject, radius_m, diameter_m)
    return (*said, *_who_is_trusted(guarantee))


def record_loss(guarantee: Guarantee, diameter_m: float | None) -> Exact:
    """The loss when a record is exchanged for any other: records of a region lie within its diameter.

    The next whole metre covers the rounding of the diameter, as where it is charged.
    """
    return guarantee.loss(INFINITY if diameter_m is None else math.floor(diameter_m) + 1)


def decimal(value: Exact, *, digits: int = 12) -> str:
    """An exact number as a plain decimal; where it has none within `digits` places, rounded up."""
    if value == INFINITY:
        return "no bound"
    scaled = math.ceil(Fraction(value) * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def factor(epsilon: Exact) -> str:
    """e^ε in words of at most four digits, rounded up."""
    value = float(epsilon)
    if value > math.log(_LARGEST_FACTOR):
        return "more than a million million"
    exact = math.exp(value)
    if exact >= 1000:
        step = 10 ** (math.floor(math.log10(exact)) - 2)
        return f"{math.ceil(exact / step) * step:,.0f}"
    decimals = 4 if exact < 1.01 else 2
    return f"{math.ceil(exact * 10**decimals) / 10**decimals:.{decimals}f}"


def right_guesses(epsilon: Exact, delta: Fraction) -> str:
    """How often, in percent, the best test between two neighbours is right when both are equally likely.

    (e^ε + δ) / (1 + e^ε), from the trade-off of hypothesis tests (Kairouz, Oh, Viswanath 2015), rounded up.
    """
    odds = math.exp(-float(epsilon))
    share = min(1.0, (1 + float(delta) * odds) / (1 + odds))
    return f"{min(100.0, math.ceil(share * 1000) / 10):.1f}".removesuffix(".0")


def _presence(guarantee: Guarantee, subject: str) -> list[str]:
    epsilon, delta = guarantee.loss(INFINITY), guarantee.delta
    if not guarantee.terms:
        return [f"Nothing about any person can be learned from {subject}."]
    if epsilon == INFINITY:
        return [f"Nothing is promised: what {subject} shows about whether a person is there has no bound."]
    whether = (
        f"Whether any one person's whole record is in the data or not changes the probability of "
        f"whatever {subject} could show by a factor of at most {factor(epsilon)} "
        f"(presence ε = {decimal(epsilon)})."
    )
    guessing = _guessing("whether that person is in the data", epsilon, delta)
    return [whether, guessing, _exceptions(delta), _moved(epsilon, delta)]


def _moved(epsilon: Exact, delta: Fraction) -> str:
    """Two steps of (ε, δ) are (2ε, δ(1 + e^ε)) (group privacy)."""
    twice = min(Fraction(1), delta * (1 + Fraction(math.exp(min(float(epsilon), 700.0)))))
    return (
        f"Moving a person's record elsewhere is a removal and an addition: a factor of at most "
        f"{factor(2 * epsilon)} (ε = {decimal(2 * epsilon)}"
        + (f", δ = {decimal(twice, digits=18)}" if delta else "")
        + "); nothing smaller is claimed for short moves."
    )


def _exchange(
    guarantee: Guarantee, subject: str, radius_m: int | None, diameter_m: float | None
) -> list[str]:
    if not guarantee.terms:
        return [f"Nothing about any person can be learned from {subject}."]
    said = [_exchange_record(record_loss(guarantee, diameter_m), guarantee.delta, subject)]
    if radius_m is not None:
        said.append(_exchange_radius(guarantee.loss(radius_m), guarantee.delta, radius_m))
        if diameter_m is not None:
            said.extend(explained(guarantee, radius_m=radius_m, diameter_m=diameter_m))
    return [
        *said,
        _exceptions(guarantee.delta),
        "The number of persons enrolled is public and not protected.",
    ]


def _exchange_record(epsilon: Exact, delta: Fraction, subject: str) -> str:
    if epsilon == INFINITY:
        return f"For the exchange of a whole record against any other, {subject} carries no bound."
    return (
        f"Exchanging one person's whole record for any other changes the probability of whatever {subject} "
        f"could show by a factor of at most {factor(epsilon)} (whole record ε = {decimal(epsilon)}). "
        + _guessing("which of two records a person has", epsilon, delta)
    )


def _exchange_radius(epsilon: Exact, delta: Fraction, radius_m: int) -> str:
    if epsilon == INFINITY:
        return f"For moves of up to {metres(radius_m)} there is no bound either."
    return (
        f"If the two records are within {metres(radius_m)} of each other (earth mover's distance), "
        f"the factor is at most {factor(epsilon)} (radius ε = {decimal(epsilon)}), and such a guess is right "
        f"at most {right_guesses(epsilon, delta)} % of the time."
    )


def _guessing(what: str, epsilon: Exact, delta: Fraction) -> str:
    weak = " That is a weak promise." if epsilon > _WEAK_EPSILON else ""
    return (
        f"Somebody who knows everything else and could only toss a coin about {what} "
        f"is right at most {right_guesses(epsilon, delta)} % of the time afterwards.{weak}"
    )


def _exceptions(delta: Fraction) -> str:
    if delta == 0:
        return "This holds without exception (δ = 0)."
    chance = f", at most one in {math.floor(1 / delta):,}" if delta < 1 else ""
    return f"On top of the factor a probability may differ by δ = {decimal(delta, digits=18)}{chance}."


def _who_is_trusted(guarantee: Guarantee) -> list[str]:
    said = [TRUST[guarantee.trust]]
    if guarantee.simulated:
        said.append(
            "What people's devices would do was simulated on stored check-ins, so it asks for the same trust."
        )
    if guarantee.if_shuffler_fails is not None:
        loss = decimal(guarantee.if_shuffler_fails.loss(INFINITY))
        said.append(f"If the shuffler does collude, what is left is ε = {loss}.")
    return said


def metres(distance_m: float) -> str:
    """A distance for people: metres below 10 km, kilometres above."""
    return f"{distance_m:,.0f} m" if distance_m < 10_000 else f"{distance_m / 1000:,.0f} km"
