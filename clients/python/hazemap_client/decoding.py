"""Reads answers into classes whose fields have the names and kinds of what is answered."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from hazemap_client.errors import BadAnswer
from hazemap_client.numbers import exact

T = TypeVar("T")


def parsed(body: bytes) -> Any:
    """Parses JSON. Errors: `BadAnswer`."""
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    # Outside of the handler: the library's error holds the whole answer.
    raise BadAnswer("The server's answer is not JSON. Is this the address of a Hazemap server?")


def decoded(kind: type[T], value: object, local: Mapping[str, object], *, at: str = "") -> T:
    """Builds what JSON describes; its local fields are those that no answer has. Errors: `BadAnswer`.

    Unknown names are passed over: a newer server may say more. at: where it stands in the answer.
    """
    make: Any = kind
    path, values = at or kind.__name__, {}
    members, hints = _checked(dict, value, path), get_type_hints(kind)
    for field in fields(make):
        if field.name in members:
            values[field.name] = _value(hints[field.name], members[field.name], f"{path}.{field.name}")
        elif field.name in local:
            values[field.name] = local[field.name]
        elif field.default is MISSING:
            raise _bad(f"{path}.{field.name}")
    return kind(**values)


def _value(hint: Any, value: object, at: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or (value is None and NoneType in inner):
        return value
    if origin in {Union, UnionType}:  # null stands last; of exact numbers, the decimal first
        return _value(inner[0], value, at)
    if origin is tuple:
        return tuple(_value(inner[0], item, at) for item in _checked(list, value, at))
    if origin is Mapping:
        return {name: _value(inner[1], item, at) for name, item in _checked(dict, value, at).items()}
    is_component = isinstance(hint, type) and is_dataclass(hint)
    return decoded(hint, value, {}, at=at) if is_component else _plain(hint, value, at)


def _plain(hint: Any, value: object, at: str) -> Any:
    read = _READERS.get((hint, type(value)))
    if read is None:
        return _checked(hint, value, at)
    with suppress(ValueError, OverflowError):
        return read(value)
    raise _bad(at)


def _checked(kind: type[T], value: object, at: str) -> T:
    if type(value) is not kind:
        raise _bad(at)
    return value


def _bad(at: str) -> BadAnswer:
    return BadAnswer(f"The server's answer is not as its API describes it ({at}). Is this a Hazemap server?")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no offset from UTC")
    return moment


# Where the kind of a field is not that of the JSON value. A bool is an int in Python, and none in JSON.
_READERS: Final[Mapping[tuple[type, type], Callable[[Any], object]]] = {
    (datetime, str): _moment,
    (Decimal, str): exact,
    (float, int): float,
}
