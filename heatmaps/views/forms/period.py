"""The period that a question may be restricted to: fields that forms of releases share."""

from typing import Any, Final

from django import forms

PERIOD_FIELDS: Final = ("since", "since_time", "until", "until_time")


def _moment_field(kind: str, **words: Any) -> forms.CharField:
    """A date or a time of day as it was typed: what it may be, the question says."""
    widget = forms.TextInput(
        attrs={"type": kind, "autocomplete": "off"} | ({"step": "1"} if kind == "time" else {})
    )
    return forms.CharField(required=False, widget=widget, **words)


class PeriodForm(forms.Form):
    """From a moment on, until another; either may be left empty."""

    since = _moment_field("date", label="From", help_text="The first day, from midnight UTC on.")
    since_time = _moment_field("time", label="From, time of day", help_text="UTC. Empty: midnight, 00:00.")
    until = _moment_field("date", label="Until", help_text="The first moment that is left out, UTC.")
    until_time = _moment_field("time", label="Until, time of day", help_text="UTC. Empty: midnight, 00:00.")

    def moment(self, bound: str) -> str | None:
        """`since` or `until` of a request, once the form is valid."""
        day, time = self.cleaned_data[bound], self.cleaned_data[f"{bound}_time"]
        return f"{day}T{time}" if time else day or None

    @property
    def asks_for_a_part(self) -> bool:
        """Whether anything was typed, or refused, about a part of the data."""
        return any(self[name].value() or self[name].errors for name in self.part_fields)

    @property
    def part_fields(self) -> tuple[str, ...]:
        return PERIOD_FIELDS
