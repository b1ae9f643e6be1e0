"""Takes the facts of a round that is planned."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone

from heatmaps.collections.round_draws import MOST_REPORTS_PER_PERSON
from heatmaps.models import Dataset
from heatmaps.releases.request import ReleaseRequest, RoundTerms
from heatmaps.views.fields import DecimalText, WholeNumber, explain, offer
from mechanisms.check import ParameterError
from mechanisms.devices import catalogue
from mechanisms.devices.catalogue import DeviceEntry
from mechanisms.guarantee import Trust

_SMALLEST_SIDE: Final = 2
_TRUSTED: Final = {
    Trust.LOCAL: "Nobody has to be trusted",
    Trust.SHUFFLE: "The shuffler has to be trusted",
}


class MomentField(forms.DateTimeField):
    """Reads a date and a time of day in UTC."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(
            format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local", "autocomplete": "off"}
        )
        super().__init__(widget=widget, input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"], **options)


class RoundForm(forms.Form):
    """Checks shape only: what a round may be is checked when it is quoted."""

    mechanism = forms.ChoiceField(widget=forms.RadioSelect, label="What devices do")
    epsilon = DecimalText(
        initial="1", label="ε of a report", help_text="At the dataset's radius. 1 is strong, 10 is weak."
    )
    delta = DecimalText(
        required=False,
        label="δ of a report",
        help_text="Only for methods with a shuffler. Empty: one in a billion.",
    )
    resolution = forms.TypedChoiceField(
        coerce=int,
        empty_value=None,
        required=False,
        label="Cells a side",
        help_text="Of maps. Fewer cells are more exact.",
    )
    reports_per_person = WholeNumber(
        min_value=1,
        max_value=MOST_REPORTS_PER_PERSON,
        initial=1,
        label="Reports a person",
        help_text="Each costs as much again.",
    )
    least_honest = WholeNumber(
        min_value=2,
        label="Honest reports, at least",
        help_text="You declare it; nobody can check it. With fewer reports nothing is published.",
    )
    dishonest_share = DecimalText(
        initial="0.05", label="Dishonest share", help_text="Of all reports that come in, 0 to 0.9."
    )
    opens_at = MomentField(label="Opens", help_text="UTC. From then on the charge stays.")
    closes_at = MomentField(label="Closes", help_text="UTC.")

    def __init__(self, dataset: Dataset, data: Mapping[str, Any] | None = None) -> None:
        start = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
        persons = dataset.persons or 2
        trusts_shuffler = dataset.collection.has_two_operators and not dataset.collection.open_link
        initial = {
            "mechanism": "sgdl-shuffle" if trusts_shuffler else "frequency",
            "least_honest": max(2, min(persons, persons * 3 // 4)),
            "opens_at": start,
            "closes_at": start + timedelta(days=7),
        }
        super().__init__(data, initial=initial)
        self.entries = [
            entry for entry in catalogue.entries() if entry.open_groups or not dataset.collection.open_link
        ]
        offer(self, "mechanism", [(entry.name, entry.title) for entry in self.entries])
        highest = max(entry.highest_resolution for entry in self.entries)
        sides = [2**level for level in range(1, highest.bit_length()) if 2**level >= _SMALLEST_SIDE]
        offer(self, "resolution", [("", "as usual"), *((str(side), f"{side} × {side}") for side in sides)])

    @property
    def groups(self) -> list[tuple[str, list[tuple[DeviceEntry, bool]]]]:
        """Returns (whom it trusts, (entry, whether it is selected) of each way)."""
        selection = self["mechanism"].value()
        choices = [(entry, entry.name == selection) for entry in self.entries]
        return [
            (heading, of_trust)
            for trust, heading in _TRUSTED.items()
            if (of_trust := [choice for choice in choices if choice[0].trust is trust])
        ]

    def clean(self) -> dict[str, Any]:
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        opens_at, closes_at = (typed.get(name) for name in ("opens_at", "closes_at"))
        if opens_at is not None and opens_at.replace(tzinfo=UTC) <= timezone.now():
            self.add_error("opens_at", "This moment is over. Choose one ahead.")
        if opens_at is not None and closes_at is not None and closes_at <= opens_at:
            self.add_error("closes_at", "A round closes after it opens.")
        return typed

    @property
    def fingerprint(self) -> str:
        """Returns the fingerprint of what a shown cost is of: with another one the cost is shown again before
        anything is reserved."""
        return hashlib.sha256(repr(sorted(self.cleaned_data.items(), key=str)).encode()).hexdigest()

    @property
    def moments(self) -> dict[str, datetime]:
        """Returns the moments, once the form is valid."""
        return {name: self.cleaned_data[name].replace(tzinfo=UTC) for name in ("opens_at", "closes_at")}

    def request(self) -> ReleaseRequest:
        """Returns the question, once the form is valid."""
        typed = self.cleaned_data
        return ReleaseRequest(
            mechanism=typed["mechanism"],
            epsilon=typed["epsilon"],
            delta=typed["delta"] or None,
            resolution=typed["resolution"],
            round=RoundTerms(
                reports_per_person=typed["reports_per_person"],
                least_honest=typed["least_honest"],
                dishonest_share=typed["dishonest_share"] or "0",
            ),
        )

    def explain(self, error: ParameterError) -> None:
        explain(self, error, {})
