"""Keeps an exact fraction in a column of text, as "numerator/denominator"."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from django.db import models


class NotStored(ValueError):  # noqa: N818 - as the other domain errors
    """Says that a column holds a text that this program never writes."""


class FractionField(models.Field):  # type: ignore[type-arg]  # at run time it takes no arguments
    """Holds a `Fraction` on this side of the database.

    To migrations it is the column of text that it is. Errors: `NotStored` for any other spelling, so that an
    edited row is refused and not read as what it resembles.
    """

    if TYPE_CHECKING:
        _pyi_private_set_type: Fraction
        _pyi_private_get_type: Fraction

    def get_internal_type(self) -> str:
        return "CharField"

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs

    def get_default(self) -> Any:
        return self.to_python(super().get_default())

    def from_db_value(self, value: str | None, _expression: object, _connection: object) -> Fraction | None:
        return None if value is None else stored_fraction(value)

    def to_python(self, value: Any) -> Any:
        return stored_fraction(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> Any:
        exact = self.to_python(value)
        return fraction_text(exact) if isinstance(exact, Fraction) else super().get_prep_value(exact)

    def value_to_string(self, row: models.Model) -> str:
        return fraction_text(self.value_from_object(row))


def fraction_text(value: Fraction) -> str:
    """Writes the one text of a fraction in rows, events and questions: "numerator/denominator" in lowest
    terms."""
    return f"{value.numerator}/{value.denominator}"


def stored_fraction(text: str) -> Fraction:
    """Reads what `fraction_text` wrote. Errors: `NotStored`."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or fraction_text(value) != text:
        raise NotStored(f"{text!r} is no fraction in lowest terms")
    return value
