"""Provides fields and errors that the forms share."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from heatmaps.ledger.transitions.moves import LONGEST_REASON
from mechanisms.check import ParameterError

# AUTH_PASSWORD_VALIDATORS in words.
LIKE_THIS: Final = "At least 8 characters. Not a common password, only digits, or like your username."


class DecimalText(forms.CharField):
    """Keeps a number exactly as it was typed: a float would change it."""

    def __init__(self, *, unit: str = "", **options: Any) -> None:
        self.unit = unit
        attributes = {"inputmode": "decimal", "autocomplete": "off", "spellcheck": "false"}
        super().__init__(max_length=40, widget=forms.TextInput(attrs=attributes), **options)


def degrees_field() -> forms.CharField:
    """Makes a number box; what it may hold, the question says."""
    widget = forms.NumberInput(attrs={"step": "any", "autocomplete": "off"})
    return forms.CharField(max_length=40, required=False, widget=widget)


_PLAIN: Final = re.compile(r"[0-9+.eE-]*", re.ASCII)  # Python reads "٣" as 3 and "1_0" as 10, too


class WholeNumber(forms.IntegerField):
    """Reads an integer in plain ASCII digits."""

    def __init__(self, *, unit: str = "", **options: Any) -> None:
        self.unit = unit
        super().__init__(**options)

    def to_python(self, value: Any) -> int | None:
        return super().to_python(_plain(value, "Enter a whole number."))


class PlainNumber(forms.FloatField):
    """Reads a finite number in plain ASCII digits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.NumberInput(attrs={"step": "any", "autocomplete": "off"}), **options)

    def to_python(self, value: Any) -> float | None:  # type: ignore[override]  # the stubs say int
        return super().to_python(_plain(value, "Enter a number."))


class ReasonField(forms.Form):
    """Asks why something changes that people rely on."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It is written into the ledger for good, with your name, and may be read by others.",
    )


def offer(form: forms.Form, name: str, choices: Iterable[tuple[str, str]]) -> None:
    """Gives a field of choices those that are known when the form is made."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)  # noqa: S101 - as its form declares it
    field.choices = list(choices)


def explain(form: forms.Form, error: ParameterError, fields: Mapping[str, str]) -> None:
    """Puts a refusal beside the field it is about; `fields` says which field holds which parameter."""
    parameter = error.parameter.removeprefix("data_slice.")
    name = fields.get(parameter, parameter)
    form.add_error(name if name in form.fields else None, refusal_text(error))


def refusal_text(error: ParameterError) -> str:
    """Says what is not allowed and what is, for the place beside a field."""
    return f"{error.value} is not allowed here. Allowed: {error.allowed}."


def _plain(value: Any, refusal: str) -> Any:
    if isinstance(value, str) and not _PLAIN.fullmatch(value.strip()):
        raise ValidationError(refusal, code="invalid")
    return value
