"""Asks for the name and the note of a release."""

from typing import Any

from django import forms

from heatmaps.models.release import LONGEST_NAME, LONGEST_NOTE
from heatmaps.releases.names import Label
from heatmaps.views.fields import explain
from mechanisms.check import ParameterError


class NameForm(forms.Form):
    """Asks what members call a release; what a text may hold, `heatmaps.releases.names` checks.

    Only for forms that are sent by POST: a name is nothing for addresses.
    """

    name = forms.CharField(required=False, max_length=LONGEST_NAME)
    note = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": LONGEST_NOTE}),
        help_text="Plain text, for members.",
    )

    def clean(self) -> dict[str, Any]:
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        for name in {"name", "note"} & set(typed):
            try:
                Label(**{name: typed[name]})
            except ParameterError as error:
                explain(self, error, {})
        return typed

    def label(self) -> Label:
        """Returns name and note, once the form is valid."""
        return Label(name=self.cleaned_data["name"], note=self.cleaned_data["note"])


class RenameForm(NameForm):
    """Asks the same for a release that is there; stewards of a public one say who reads it."""

    public = forms.BooleanField(required=False, label="Show the name and note publicly")
