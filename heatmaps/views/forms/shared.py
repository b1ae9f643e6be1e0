"""Fields and errors that the forms share."""

import re
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from mechanisms.check import ParameterError


class DecimalText(forms.CharField):
    """A number kept exactly as it was typed: a float would change it."""

    def __init__(self, **options: Any) -> None:
        attributes = {"inputmode": "decimal", "autocomplete": "off", "spellcheck": "false"}
        super().__init__(max_length=40, widget=forms.TextInput(attrs=attributes), **options)


def degrees_field() -> forms.CharField:
    """A number box; what it may hold, the question says."""
    widget = forms.NumberInput(attrs={"step": "any", "autocomplete": "off"})
    return forms.CharField(max_length=40, required=False, widget=widget)


_PLAIN: Final = re.compile(r"[0-9+.eE-]*", re.ASCII)  # Python reads "٣" as 3 and "1_0" as 10, too


class WholeNumber(forms.IntegerField):
    """An integer in plain ASCII digits."""

    def to_python(self, value: Any) -> int | None:
        return super().to_python(_plain(value, "Enter a whole number."))


class PlainNumber(forms.FloatField):
    """A finite number in plain ASCII digits."""

    def to_python(self, value: Any) -> float | None:  # type: ignore[override]  # the stubs say int
        return super().to_python(_plain(value, "Enter a number."))


def explain(form: forms.Form, error: ParameterError, fields: Mapping[str, str]) -> None:
    """Put a refusal beside the field it is about; `fields` says which field holds which parameter."""
    name = fields.get(error.parameter, error.parameter)
    form.add_error(name if name in form.fields else None, refusal_text(error))


def refusal_text(error: ParameterError) -> str:
    """What is not allowed and what is, for the place beside a field."""
    return f"{error.value} is not allowed here. Allowed: {error.allowed}."


def _plain(value: Any, refusal: str) -> Any:
    if isinstance(value, str) and not _PLAIN.fullmatch(value.strip()):
        raise ValidationError(refusal, code="invalid")
    return value
