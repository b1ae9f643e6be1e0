"""Fields and errors that the forms share."""

from collections.abc import Mapping
from typing import Any

from django import forms

from mechanisms.check import ParameterError


class DecimalText(forms.CharField):
    """A number kept exactly as it was typed: a float would change it."""

    def __init__(self, **options: Any) -> None:
        attributes = {"inputmode": "decimal", "autocomplete": "off", "spellcheck": "false"}
        super().__init__(max_length=40, widget=forms.TextInput(attrs=attributes), **options)


def explain(form: forms.Form, error: ParameterError, fields: Mapping[str, str]) -> None:
    """Put a refusal beside the field it is about; `fields` says which field holds which parameter."""
    name = fields.get(error.parameter, error.parameter)
    text = f"{error.value} is not allowed here. Allowed: {error.allowed}."
    form.add_error(name if name in form.fields else None, text)
