"""Encodes questions to a child that plans, and its answers, as JSON that becomes nothing but known values.

A child that was taken over answers what it likes. Of a mechanism it sends the numbers alone that calibrating
chose; all else is what was asked for. Whoever draws works out the guarantee once more
(`heatmaps.releases.engine`).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any, Final

from heatmaps.children.calibrated import Calibration, MechanismQuestion, Refused
from mechanisms.catalogue import registry
from mechanisms.check import exact_decimal, whole
from mechanisms.expected_error import ErrorBound, ErrorForecast, ExpectedError, PointError, ShareError
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.mechanism import LARGEST_LENGTH_M, Target
from mechanisms.results.distances import Places
from mechanisms.results.zones import Zones
from mechanisms.space.grid import Region

LONGEST_TEXT: Final = 2_000  # characters
_LARGEST_NUMBER: Final = 2**31
_TERMS: Final = 100
_WITH_SHUFFLER: Final = "on_devices"  # the key of `Calibrated.with_shuffler` in messages
_ERRORS: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind for kind in (ErrorBound, ErrorForecast, PointError, ShareError)
}
_PARSED: Final[Mapping[str, type[Zones | Places]]] = {"zones": Zones, "places": Places}
_TARGET: Final = {"relation", "epsilon", "delta", "radius_m", "expected_persons", "version"}
_MALFORMED: Final = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


class MessageError(ValueError):
    """Refuses a message that is none of those sent here; it is not shown, as its sender may be anybody's."""

    def __init__(self) -> None:
        super().__init__("a child or its parent sent something else than a message")


def question_bytes(question: MechanismQuestion) -> bytes:
    """Encodes a question. Errors: ValueError for a guide, which no mechanism of whole records takes."""
    target = question.target
    if target.guide is not None:
        raise ValueError("a guide is not sent to a child that plans")
    body = {
        "name": question.name,
        "target": {
            "relation": Relation(target.relation).value,
            "epsilon": _pair(target.epsilon),
            "delta": _pair(target.delta),
            "radius_m": None if target.radius_m is None else _pair(target.radius_m),
            "expected_persons": target.expected_persons,
            "version": target.version,
        },
        "region": list(question.region),
        "persons": question.persons,
        "resolution": question.resolution,
        "parameters": {name: _parameter(value) for name, value in question.parameters.items()},
    }
    return json.dumps(body).encode()


def question_from(content: bytes) -> MechanismQuestion:
    """Decodes a question from `question_bytes`. Errors: MessageError."""
    try:
        return _question(json.loads(content.decode()))
    except _MALFORMED:
        raise MessageError from None


def answer_bytes(question: MechanismQuestion, answer: Calibration | Refused) -> bytes:
    """Encodes the answer to a question."""
    if isinstance(answer, Refused):
        return json.dumps({"refused": asdict(answer)}).encode()
    mechanism, with_shuffler = answer.mechanism, answer.with_shuffler
    body = {
        "chosen": {name: _number_json(getattr(mechanism, name)) for name in question.free_fields},
        "guarantee": answer.guarantee.to_json(),
        _WITH_SHUFFLER: None if with_shuffler is None else with_shuffler.to_json(),
        "expected_error": [type(answer.expected_error).__name__, asdict(answer.expected_error)],
    }
    return json.dumps({"calibrated": body}).encode()


def answer_from(question: MechanismQuestion, content: bytes) -> Calibration | Refused:
    """Decodes the answer of `answer_bytes` to this question. Errors: MessageError for whatever else it is."""
    try:
        body = json.loads(content.decode())
        if set(body) == {"refused"}:
            return Refused(**{name: _text(value) for name, value in body["refused"].items()})
        _check(set(body) == {"calibrated"})
        return _calibrated(question, body["calibrated"])
    except _MALFORMED:
        raise MessageError from None


def _question(body: dict[str, Any]) -> MechanismQuestion:
    _check(set(body) == {"name", "target", "region", "persons", "resolution", "parameters"})
    target, radius_m = body["target"], body["target"]["radius_m"]
    _check(set(target) == _TARGET)
    _check(all(type(edge) is float for edge in body["region"]))
    counts = (body["persons"], body["resolution"], target["expected_persons"], target["version"])
    _check(all(count is None or type(count) is int for count in counts))
    return MechanismQuestion(
        name=_text(body["name"]),
        target=Target(
            relation=Relation(target["relation"]),
            epsilon=_fraction(target["epsilon"]),
            delta=_fraction(target["delta"]),
            radius_m=None if radius_m is None else _fraction(radius_m),
            expected_persons=target["expected_persons"],
            version=target["version"],
        ),
        region=Region(*body["region"]),
        persons=body["persons"],
        resolution=body["resolution"],
        parameters={name: _parsed(value) for name, value in body["parameters"].items()},
    )


def _calibrated(question: MechanismQuestion, body: dict[str, Any]) -> Calibration:
    _check(set(body) == {"chosen", "guarantee", _WITH_SHUFFLER, "expected_error"})
    kinds, with_shuffler = question.free_fields, body[_WITH_SHUFFLER]
    numbers = {name: _number(name, value, kinds[name]) for name, value in body["chosen"].items()}
    return Calibration(
        mechanism=registry.get(question.name).mechanism.restored(**question.stated, **numbers),
        guarantee=_guarantee(question, body["guarantee"]),
        with_shuffler=None if with_shuffler is None else _guarantee(question, with_shuffler),
        expected_error=_expected_error(body["expected_error"]),
    )


def _number(name: str, value: Any, kind: Any) -> int | Fraction:
    if kind is int:
        whole(1, _LARGEST_NUMBER, **{name: value})
        return int(value)
    return exact_decimal(name, _fraction(value), low=0, low_open=True, high=LARGEST_LENGTH_M)


def _guarantee(question: MechanismQuestion, body: Any) -> Guarantee:
    guarantee = Guarantee.from_json(body)
    _check(guarantee.relation is question.target.relation and len(guarantee.terms) <= _TERMS)
    fails = guarantee.if_shuffler_fails
    _check(fails is None or (fails.if_shuffler_fails is None and len(fails.terms) <= _TERMS))
    return guarantee


def _expected_error(body: Any) -> ExpectedError:
    name, values = body
    kinds = {field.name: field.type for field in fields(_ERRORS[name])}
    for key, value in values.items():
        if kinds[key] is str:
            _text(value)
        else:
            _check(type(value) is float and math.isfinite(value) and value >= 0)
    error: ExpectedError = _ERRORS[name](**values)
    return error


def _parameter(value: object) -> list[object]:
    """Encodes a parameter: what JSON has, an exact number, or the spelling of what a form parsed."""
    if isinstance(value, Fraction):
        return ["exact", _pair(value)]
    for kind, parsed in _PARSED.items():
        if isinstance(value, parsed):
            return [kind, value.text]
    return ["json", value]


def _parsed(body: list[Any]) -> object:
    kind, value = body
    if kind in _PARSED:
        return _PARSED[kind].parse(value)
    _check(kind in ("exact", "json"))
    return _fraction(value) if kind == "exact" else value


def _number_json(number: int | Fraction) -> int | list[int]:
    return _pair(number) if isinstance(number, Fraction) else number


def _pair(number: Fraction) -> list[int]:
    return [number.numerator, number.denominator]


def _fraction(body: Any) -> Fraction:
    numerator, denominator = body
    _check(type(numerator) is int and type(denominator) is int and denominator > 0)
    return Fraction(numerator, denominator)


def _text(value: Any) -> str:
    _check(type(value) is str and len(value) <= LONGEST_TEXT and value.isprintable())
    return str(value)


def _check(is_so: bool) -> None:
    if not is_so:
        raise ValueError
