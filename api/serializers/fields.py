"""Defines strict fields for bodies (exact JSON types, no unknown names) and exact numbers for answers."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.settings import api_settings

from heatmaps.exports.sheet import exact_text
from heatmaps.ledger.amounts import as_decimal
from mechanisms.check import MAX_CHARACTERS, printable

# As `mechanisms.check.exact_decimal` reads it.
DECIMAL_PATTERN: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_LONGEST_NUMBER: Final = 2**63 - 1


class Strict(serializers.Serializer[Any]):
    """Takes an object of known names."""

    fewest: ClassVar[int] = 0  # of them; where none is needed, the body is not either

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise serializers.ValidationError({api_settings.NON_FIELD_ERRORS_KEY: "expected a JSON object"})
        unknown = [name for name in data if name not in self.fields]
        if unknown:
            raise serializers.ValidationError({printable(name): "unknown field" for name in unknown})
        return super().to_internal_value(data)


class StrictSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # its base has no types
    """Tells the OpenAPI document, too, that other names are refused."""

    target_class = Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        fewest = {"minProperties": self.target.fewest} if self.target.fewest else {}
        return schema | {"additionalProperties": False} | fewest


class Text(serializers.CharField):
    """Reads a JSON string, kept as it is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("expected a string")
        return data


@extend_schema_field(
    {"type": "string", "maxLength": MAX_CHARACTERS, "pattern": DECIMAL_PATTERN, "examples": ["0.5"]}
)
class Decimal(Text):
    """Reads an exact decimal number in a string: a JSON number could have been rounded on its way."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_CHARACTERS, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError('a decimal number in expected a string, such as "0.5"')
        return data


def whole(data: Any) -> int:
    """Reads a JSON integer, also where it is written 5.0. Errors: ValidationError."""
    exact = isinstance(data, int) or (isinstance(data, float) and data.is_integer() and abs(data) < 2**53)
    if not exact or isinstance(data, bool):
        raise serializers.ValidationError("expected a whole number")
    return int(data)


class Whole(serializers.IntegerField):
    """Reads a JSON integer; whether it is small enough is said by `max_value`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"max_value": _LONGEST_NUMBER} | options))

    def to_internal_value(self, data: Any) -> int:
        return whole(data)


class Flag(serializers.BooleanField):
    """Reads a JSON boolean."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("expected true or false")
        return data


class FiniteNumber(serializers.FloatField):
    """Reads a finite JSON number."""

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            raise serializers.ValidationError("expected a number")
        try:
            value = float(data)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise serializers.ValidationError("the number is too large")
        return value


class Choice(serializers.ChoiceField):
    """Reads one of some strings."""

    def __init__(self, choices: Any, **options: Any) -> None:
        super().__init__(choices, **options)
        self.error_messages["invalid_choice"] = f"expected one of: {', '.join(self.choices)}"

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("expected a string")
        return super().to_internal_value(data)


class BoxIn(serializers.ListField):
    """Reads west, south, east and north, in degrees."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=FiniteNumber(min_value=-180, max_value=180), min_length=4, max_length=4, **options
        )


class BoxOut(serializers.ListField):
    """Writes west, south, east and north, in degrees."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.FloatField(), min_length=4, max_length=4, **options)


class Amount(serializers.CharField):
    """Writes units of the account that the object's `kind` names as an exact decimal.

    null: what it means that there is no amount; empty: there always is one.
    visible: whether an object's amount is to be told.
    """

    def __init__(
        self, *, null: str = "", visible: Callable[[Any], bool] | None = None, **options: Any
    ) -> None:
        options.setdefault("allow_null", null != "")
        options.setdefault("help_text", f"Exact decimal; null: {null}." if null else "Exact decimal.")
        super().__init__(**options)
        self.visible = visible

    def get_attribute(self, instance: Any) -> str | None:
        units: Any = super().get_attribute(instance)
        if units is None or (self.visible is not None and not self.visible(instance)):
            return None
        return as_decimal(units, instance.kind)


class Exact(serializers.CharField):
    """Writes an exact number: a plain decimal, or a fraction where none is exact."""

    def to_representation(self, value: Any) -> str:
        return exact_text(value)


class PageOut(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
