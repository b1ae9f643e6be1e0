"""Asks how to blur a file."""

from collections.abc import Mapping
from typing import Any

from django import forms

from heatmaps.blurring.download import BlurQuestion
from heatmaps.models import Dataset
from heatmaps.views.fields import DecimalText, explain, offer
from mechanisms.catalogue import local
from mechanisms.check import ParameterError

_USUAL_RADIUS_M = 500


class BlurForm(forms.Form):
    """Checks shape only: what a mechanism allows is checked when the file is blurred."""

    file = forms.FileField(
        label="File of check-ins",
        help_text="CSV, NDJSON, SNAP or Parquet, up to 20 MB and 200,000 rows. Not kept.",
    )
    mechanism = forms.ChoiceField(widget=forms.RadioSelect)
    epsilon = DecimalText(
        initial="1",
        label="ε of one report",
        help_text="More: nearer to the truth, less protection.",
    )
    radius_m = DecimalText(label="Radius", help_text="Places this near to each other are hard to tell apart.")
    max_reports = DecimalText(
        initial="1",
        label="Rows of one person, at most",
        help_text="Each row adds its ε.",
    )
    leave_out = forms.BooleanField(required=False, label="Leave out further rows, else the file is refused")
    cell_m = DecimalText(
        required=False,
        label="Size of the cells",
        help_text="Empty: a small part of the radius.",
    )
    columns = forms.CharField(
        required=False,
        max_length=200,
        label="Columns with other names",
        help_text="Such as user=uid,lat=latitude,lon=longitude.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, dataset: Dataset, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.entries = local.entries()
        offer(self, "mechanism", [(entry.name, entry.title) for entry in self.entries])
        self.fields["mechanism"].initial = self.entries[0].name
        self.fields["radius_m"].initial = str(dataset.radius_m or _USUAL_RADIUS_M)

    @property
    def mechanisms(self) -> list[tuple[str, str, bool]]:
        """Returns (name, title, whether it is selected) of each mechanism."""
        selection = self["mechanism"].value()
        return [(entry.name, entry.title, entry.name == selection) for entry in self.entries]

    def question(self) -> BlurQuestion:
        """Returns the question, once the form is valid."""
        return _question(self.cleaned_data)

    def as_it_stands(self) -> BlurQuestion:
        """Returns the question as it was typed so far, or is offered: nothing of it is checked yet."""
        return _question({name: str(self[name].value() or "") for name in self.fields if name != "file"})

    def explain(self, error: ParameterError) -> None:
        """Puts a refusal beside its field."""
        explain(self, error, {"max_rejected": "file"})


def _question(typed: Mapping[str, Any]) -> BlurQuestion:
    return BlurQuestion(
        mechanism=typed["mechanism"],
        epsilon=typed["epsilon"],
        radius_m=typed["radius_m"],
        max_reports=typed["max_reports"],
        cell_m=typed["cell_m"] or None,
        leave_out=bool(typed["leave_out"]),
        columns=typed["columns"],
    )
