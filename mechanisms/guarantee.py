"""Holds what a release promises as an exact value that adds up, is charged to a ledger and survives JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

INFINITY: Final = math.inf
Exact: TypeAlias = Fraction | float  # a float only for INFINITY


class Relation(StrEnum):
    """Says which two datasets count as neighbours; fixed for a dataset, for good."""

    ADD_REMOVE = "add_remove"  # one person's whole record is there or not; n is secret
    REPLACE = "replace"  # one person's record is exchanged for another; n is public


class Trust(StrEnum):
    """Names the parties that see data that are not yet private, from most to least trust needed."""

    CENTRAL = "central"  # whoever runs the mechanism sees the check-ins
    SHUFFLE = "shuffle"  # the shuffler must not collude with the analyst
    LOCAL = "local"  # nobody: noise is added on the person's device


class RelationMismatch(ValueError):  # noqa: N818 - reads as the other domain errors do
    """Refuses to add guarantees under different neighbouring relations, which have no sum."""

    code = "relation_mismatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Holds one summand of a loss: min(cap, alpha_per_m · (d rounded up to a multiple of step_m + offset_m)).

    `cap` and `alpha_per_m` may be `INFINITY`; everything else is a Fraction. Nothing is negative.
    """

    cap: Exact
    alpha_per_m: Exact = INFINITY
    offset_m: Fraction = Fraction(0)
    step_m: Fraction = Fraction(0)  # 0: distances are not rounded

    def __post_init__(self) -> None:
        for name in ("cap", "alpha_per_m"):
            object.__setattr__(self, name, _exact(name, getattr(self, name)))
        for name in ("offset_m", "step_m"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))

    def loss(self, distance_m: Exact) -> Exact:
        """Returns the loss at a distance above 0, `INFINITY` included."""
        if self.alpha_per_m == 0:
            return Fraction(0)  # not 0 · ∞
        if INFINITY in (self.alpha_per_m, distance_m):
            return self.cap
        rounded_m = Fraction(distance_m)
        if self.step_m:
            rounded_m = math.ceil(rounded_m / self.step_m) * self.step_m
        return min(self.cap, Fraction(self.alpha_per_m) * (rounded_m + self.offset_m))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """Promises (loss(d), delta)-indistinguishability of any two neighbouring datasets at distance d.

    d is that of two histories of one person, in metres on the ground: the largest, over all data versions
    that charged releases read, of the earth mover's distance between the person's records as read there. As
    read: after opt-outs and retention, places outside the region at its nearest edge (`Region.clamped`).
    Where delta > 0 it is the largest over all versions that the dataset ever has. A record that is empty in
    one history and not in the other, in some version, is at infinite distance: `exchange_loss` covers it.
    Edge cases: loss(0) = 0; beyond `max_distance_m` nothing is promised (`INFINITY`); without terms the
    loss is 0. The sum holds for any composition, also adaptive, of the summands (plain composition).
    """

    relation: Relation
    delta: Fraction = Fraction(0)
    trust: Trust = Trust.CENTRAL
    max_distance_m: Exact = INFINITY
    terms: tuple[Term, ...] = ()
    simulated: bool = False  # a shuffle mechanism that was run on stored check-ins
    if_shuffler_fails: Guarantee | None = None  # what is left when the shuffler colludes

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "trust", Trust(self.trust))
        object.__setattr__(self, "delta", _finite("delta", self.delta))
        object.__setattr__(self, "max_distance_m", _exact("max_distance_m", self.max_distance_m))
        object.__setattr__(self, "terms", tuple(self.terms))
        if self.if_shuffler_fails is not None and self.if_shuffler_fails.relation is not self.relation:
            raise RelationMismatch("if_shuffler_fails must hold under the same relation")

    @classmethod
    def flat(
        cls,
        *,
        relation: Relation,
        epsilon: Exact | int,
        delta: Fraction | int = 0,
        trust: Trust = Trust.CENTRAL,
    ) -> Guarantee:
        """Returns ordinary differential privacy: the same loss for every neighbour, however far."""
        term = Term(cap=_exact("epsilon", epsilon))
        return cls(relation=relation, delta=_finite("delta", delta), trust=trust, terms=(term,))

    def loss(self, distance_m: Exact | int | float) -> Exact:
        """Returns Σ of the terms at a distance in metres (a float is taken at its exact value); exact."""
        distance = _exact("distance_m", distance_m if distance_m == INFINITY else Fraction(distance_m))
        if distance == 0:
            return Fraction(0)
        if distance > self.max_distance_m:
            return INFINITY
        return sum((term.loss(distance) for term in self.terms), start=Fraction(0))

    def exchange_loss(self, diameter_m: Exact | int | float) -> Exact:
        """Returns the loss when a record is exchanged for any other, with or without check-ins.

        diameter_m: no two places of the region are farther apart in its projection; rounded up. A term
        without a cap counts there: those mechanisms put who has no check-ins in the region's middle.
        """
        diameter = Fraction(diameter_m)
        if diameter > self.max_distance_m:
            return INFINITY
        losses = ((term.loss(INFINITY), term.loss(diameter)) for term in self.terms)
        return sum((near if far == INFINITY else far for far, near in losses), start=Fraction(0))

    def __add__(self, other: Guarantee) -> Guarantee:
        """Composes two releases: losses and deltas add up, the greater trust is needed."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        if self.relation is not other.relation:
            raise RelationMismatch(f"cannot add guarantees under {self.relation} and {other.relation}")
        return Guarantee(
            relation=self.relation,
            delta=self.delta + other.delta,
            trust=min(self.trust, other.trust, key=list(Trust).index),
            max_distance_m=min(self.max_distance_m, other.max_distance_m),
            terms=self.terms + other.terms,
            simulated=self.simulated or other.simulated,
            if_shuffler_fails=_sum_if_shuffler_fails(self, other),
        )

    @classmethod
    def total(cls, counted: Iterable[tuple[Guarantee, int]]) -> Guarantee:
        """Returns the sum of guarantees, each as often as it counts, at least once.

        It is what adding them up one by one gives, to the last digit at any distance, with terms of one shape
        as one: it has as many terms as there are shapes. Errors: ValueError for none; RelationMismatch.
        """
        counts = list(counted)
        relations = {each.relation for each, _ in counts}
        if len(relations) > 1:
            raise RelationMismatch(f"cannot add guarantees under {' and '.join(sorted(relations))}")
        if not counts:
            raise ValueError("counted has no guarantee, allowed: at least one")
        left = [(each.if_shuffler_fails or each, count) for each, count in counts]
        is_shuffled = any(each.if_shuffler_fails is not None for each, _ in counts)
        return cls(
            relation=relations.pop(),
            delta=_finite("delta", _sum((each.delta, count) for each, count in counts)),
            trust=min({each.trust for each, _ in counts}, key=list(Trust).index),
            max_distance_m=min({each.max_distance_m for each, _ in counts}),
            terms=_merged((term, count) for each, count in counts for term in each.terms),
            simulated=any(each.simulated for each, _ in counts),
            if_shuffler_fails=cls.total(left) if is_shuffled else None,
        )

    def to_json(self) -> dict[str, object]:
        """Returns JSON values without loss: exact numbers as "p/q" or "inf"."""
        fails = self.if_shuffler_fails
        return {
            "relation": self.relation.value,
            "delta": _to_text(self.delta),
            "trust": self.trust.value,
            "max_distance_m": _to_text(self.max_distance_m),
            "terms": [{name: _to_text(getattr(term, name)) for name in _TERM_FIELDS} for term in self.terms],
            "simulated": self.simulated,
            "if_shuffler_fails": None if fails is None else fails.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Guarantee:
        """Returns the guarantee that `to_json` wrote. Errors: ValueError for anything else."""
        if not isinstance(data, Mapping) or set(data) != _FIELDS:
            raise ValueError(f"a guarantee has exactly the keys {', '.join(sorted(_FIELDS))}")
        terms, fails, simulated = data["terms"], data["if_shuffler_fails"], data["simulated"]
        if not isinstance(terms, list) or not isinstance(simulated, bool):
            raise ValueError("terms is a list and simulated is true or false")
        return cls(
            relation=Relation(str(data["relation"])),
            delta=_finite("delta", _from_text(data["delta"])),
            trust=Trust(str(data["trust"])),
            max_distance_m=_from_text(data["max_distance_m"]),
            terms=tuple(_term_from_json(term) for term in terms),
            simulated=simulated,
            if_shuffler_fails=None if fails is None else cls.from_json(fails),  # type: ignore[arg-type]
        )


_TERM_FIELDS = ("cap", "alpha_per_m", "offset_m", "step_m")
_FIELDS = {"relation", "delta", "trust", "max_distance_m", "terms", "simulated", "if_shuffler_fails"}
_NUMBER = re.compile(r"(-?[0-9]+)/([1-9][0-9]*)", re.ASCII)


def _exact(name: str, value: object) -> Exact:
    """Returns a non-negative exact number; the only float let through is INFINITY."""
    if type(value) is Fraction and value.numerator >= 0:
        return value  # comparing a fraction with 0 takes ten times as long, and lists read many guarantees
    if isinstance(value, float) and value == INFINITY:
        return INFINITY
    if isinstance(value, bool) or not isinstance(value, int | Fraction) or value < 0:
        raise ValueError(f"{name} is {value!r}, allowed: an int or Fraction of at least 0, or INFINITY")
    return Fraction(value)


def _finite(name: str, value: object) -> Fraction:
    exact = _exact(name, value)
    if not isinstance(exact, Fraction):
        raise ValueError(f"{name} is infinite, allowed: a finite Fraction of at least 0")
    return exact


def _sum_if_shuffler_fails(first: Guarantee, second: Guarantee) -> Guarantee | None:
    if first.if_shuffler_fails is None and second.if_shuffler_fails is None:
        return None
    return (first.if_shuffler_fails or first) + (second.if_shuffler_fails or second)


def _sum(counted: Iterable[tuple[Exact, int]]) -> Exact:
    """Returns the sum of exact numbers, each as often as it counts; few denominators make it cheap."""
    numerators: dict[int, int] = {}
    for value, count in counted:
        if isinstance(value, float):
            return INFINITY
        numerators[value.denominator] = numerators.get(value.denominator, 0) + value.numerator * count
    parts = (Fraction(numerator, denominator) for denominator, numerator in numerators.items())
    return sum(parts, start=Fraction(0))


def _merged(counted: Iterable[tuple[Term, int]]) -> tuple[Term, ...]:
    """Returns the sum of terms, each as often as it counts, with those of one shape as one term."""
    shapes: dict[tuple[Exact, Fraction, Fraction] | None, list[tuple[Term, int]]] = {}
    for term, count in counted:
        shapes.setdefault(_shape(term), []).append((term, count))
    return tuple(
        Term(
            cap=_sum((term.cap, count) for term, count in terms),
            alpha_per_m=INFINITY
            if shape is None
            else _sum((term.alpha_per_m, count) for term, count in terms),
            offset_m=Fraction(0) if shape is None else shape[1],
            step_m=Fraction(0) if shape is None else shape[2],
        )
        for shape, terms in shapes.items()
    )


def _shape(term: Term) -> tuple[Exact, Fraction, Fraction] | None:
    """Returns the same for two terms where caps and slopes may be added, and None for all flat ones.

    min(c, a·x) + min(c', a'·x) = min(c + c', (a + a')·x) for all x where c/a = c'/a': the distance from which
    on each is its cap. A slope of 0 has none, and loses nothing.
    """
    if isinstance(term.alpha_per_m, float):
        return None
    reach_m = INFINITY if isinstance(term.cap, float) or not term.alpha_per_m else term.cap / term.alpha_per_m
    return reach_m, term.offset_m, term.step_m


def _term_from_json(data: object) -> Term:
    if not isinstance(data, Mapping) or set(data) != set(_TERM_FIELDS):
        raise ValueError(f"a term has exactly the keys {', '.join(_TERM_FIELDS)}")
    return Term(
        cap=_from_text(data["cap"]),
        alpha_per_m=_from_text(data["alpha_per_m"]),
        offset_m=_finite("offset_m", _from_text(data["offset_m"])),
        step_m=_finite("step_m", _from_text(data["step_m"])),
    )


def _to_text(value: Exact) -> str:
    return "inf" if value == INFINITY else f"{Fraction(value).numerator}/{Fraction(value).denominator}"


def _from_text(text: object) -> Exact:
    if text == "inf":
        return INFINITY
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError('exact numbers are written as "p/q" or "inf"')
    return Fraction(int(match[1]), int(match[2]))
