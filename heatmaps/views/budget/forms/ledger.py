"""Filters a ledger's events."""

from typing import Any
from urllib.parse import urlencode

from django import forms

from heatmaps.ledger.reading import Selection
from heatmaps.models import Dataset, Event
from heatmaps.views.fields import offer
from heatmaps.wording.events import TITLES


class LedgerFilter(forms.Form):
    """Filters by kind, person and day; a value that does not exist selects nothing of its own."""

    kind = forms.ChoiceField(required=False, label="What")
    person = forms.ChoiceField(required=False, label="Who")
    day = forms.DateField(
        required=False,
        label="Day (UTC)",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
    )

    def __init__(self, dataset: Dataset, data: Any) -> None:
        super().__init__(data)
        people = Event.objects.filter(dataset=dataset, actor__isnull=False).order_by("actor__username")
        names = people.values_list("actor__username", flat=True).distinct()
        offer(self, "kind", [("", "everything"), *TITLES.items()])
        offer(self, "person", [("", "everybody"), *((name, name) for name in names)])

    def selection(self) -> Selection:
        """Returns the selection without what is wrong, which the form says."""
        self.is_valid()
        return Selection(
            kind=self.cleaned_data.get("kind") or "",
            person=self.cleaned_data.get("person") or "",
            day=self.cleaned_data.get("day"),
        )

    @property
    def narrows(self) -> bool:
        return self.selection() != Selection()

    @property
    def query(self) -> str:
        """Returns the query of another page of the same selection."""
        selection = self.selection()
        named = {"kind": selection.kind, "person": selection.person, "day": selection.day}
        return urlencode({name: value for name, value in named.items() if value})
