"""Fields that take exactly what JSON calls them, and objects that refuse names they do not know."""

import math
from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.settings import api_settings

from mechanisms.check import MAX_CHARACTERS, shown

# As `mechanisms.check.exact_decimal` reads it.
DECIMAL_PATTERN: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_LONGEST_NUMBER: Final = 2**63 - 1


class Strict(serializers.Serializer[Any]):
    """An object of known names."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError(
                {api_settings.NON_FIELD_ERRORS_KEY: "a JSON object is expected here"}
            )
        unknown = [name for name in data if name not in self.fields]
        if unknown:
            raise serializers.ValidationError({shown(name): "there is no such field" for name in unknown})
        return super().to_internal_value(data)


class StrictSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Tells the OpenAPI document, too, that other names are refused."""

    target_class = Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return schema | {"additionalProperties": False}


class Text(serializers.CharField):
    """A JSON string, kept as it is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("a string is expected here")
        return data


@extend_schema_field(
    {"type": "string", "maxLength": MAX_CHARACTERS, "pattern": DECIMAL_PATTERN, "examples": ["0.5"]}
)
class Decimal(Text):
    """An exact decimal number in a string: a JSON number could have been rounded on its way."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_CHARACTERS, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError('a decimal number in a string is expected here, such as "0.5"')
        return data


def whole(data: Any) -> int:
    """A JSON integer, also where it is written 5.0. Errors: ValidationError."""
    exact = isinstance(data, int) or (isinstance(data, float) and data.is_integer() and abs(data) < 2**53)
    if not exact or isinstance(data, bool):
        raise serializers.ValidationError("a whole number is expected here")
    return int(data)


class Whole(serializers.IntegerField):
    """A JSON integer; whether it is small enough is said by `max_value`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"max_value": _LONGEST_NUMBER} | options))

    def to_internal_value(self, data: Any) -> int:
        return whole(data)


class Flag(serializers.BooleanField):
    """A JSON boolean."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("true or false is expected here")
        return data


class Number(serializers.FloatField):
    """A finite JSON number."""

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            raise serializers.ValidationError("a number is expected here")
        try:
            value = float(data)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise serializers.ValidationError("the number is too large")
        return value


class Choice(serializers.ChoiceField):
    """One of some strings."""

    def __init__(self, choices: Any, **options: Any) -> None:
        super().__init__(choices, **options)
        self.error_messages["invalid_choice"] = f"one of these is expected here: {', '.join(self.choices)}"

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("a string is expected here")
        return super().to_internal_value(data)
