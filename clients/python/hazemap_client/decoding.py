"""Reads JSON answers into dataclasses, whose fields have the names and kinds of the API's components."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from hazemap_client.errors import BadAnswer
from hazemap_client.numbers import Exact, exact

T = TypeVar("T")

LOCAL: Final = {"local": True}  # metadata of a field that no answer has
_EXACT: Final = frozenset(get_args(Exact))


def decoded(kind: type[T], value: object, **given: object) -> T:
    """The object that an answer describes; `given` are its local fields. Errors: `BadAnswer`.

    Unknown names are passed over: a newer server may say more.
    """
    found: T = _object(kind, value, kind.__name__, given)
    return found


def _object(kind: Any, value: object, at: str, given: Mapping[str, object]) -> Any:
    if not isinstance(value, dict):
        raise _bad(at)
    hints, known = _hints(kind), {}
    for one in fields(kind):
        if one.metadata == LOCAL:
            known[one.name] = given[one.name]
        elif one.name in value:
            known[one.name] = _value(hints[one.name], value[one.name], f"{at}.{one.name}")
        elif one.default is MISSING:
            raise _bad(f"{at}.{one.name}")
    return kind(**known)


def _value(hint: Any, value: object, at: str) -> Any:
    choices = get_args(hint)
    if get_origin(hint) in {Union, UnionType}:
        return _one_of(choices, value, at)
    if hint is Any:
        return value
    if get_origin(hint) is tuple:
        return tuple(_value(choices[0], one, at) for one in _checked(list, value, at))
    if get_origin(hint) is Mapping:
        entries = _checked(dict, value, at).items()
        return {name: _value(choices[1], one, at) for name, one in entries}
    return _object(hint, value, at, {}) if _is_object(hint) else _plain(hint, value, at)


def _one_of(choices: tuple[Any, ...], value: object, at: str) -> Any:
    if value is None and NoneType in choices:
        return None
    others = [choice for choice in choices if choice is not NoneType]
    return _plain(Decimal, value, at) if set(others) == _EXACT else _value(others[0], value, at)


def _plain(hint: Any, value: object, at: str) -> Any:
    if hint is datetime or hint is Decimal:
        return _from_text(hint, _checked(str, value, at), at)
    if hint is float and type(value) is int:
        return float(value)
    return _checked(hint, value, at)


def _from_text(hint: Any, text: str, at: str) -> datetime | Exact:
    with suppress(ValueError, ZeroDivisionError):
        if hint is not datetime:
            return exact(text)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment
    raise _bad(at)


def _checked(kind: type[T], value: object, at: str) -> T:
    # A bool is an int in Python, and none in JSON.
    if type(value) is not kind:
        raise _bad(at)
    return value


def _is_object(hint: Any) -> bool:
    return is_dataclass(hint)


def _bad(at: str) -> BadAnswer:
    return BadAnswer(f"The server's answer is not as its API describes it ({at}). Is this a Hazemap server?")


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
