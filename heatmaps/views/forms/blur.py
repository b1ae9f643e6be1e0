"""The form that blurs a file of one's own."""

from typing import Any

from django import forms

from heatmaps.blurred_files import BlurQuestion
from heatmaps.models import Dataset
from heatmaps.views.forms.shared import DecimalText, explain
from mechanisms.check import ParameterError
from mechanisms.local import choices

_USUAL_RADIUS_M = 500


class BlurForm(forms.Form):
    """Shape only: what a mechanism allows is checked when the file is blurred."""

    file = forms.FileField(
        label="File of check-ins",
        help_text="CSV, NDJSON or SNAP, plain or gzip, or Parquet; up to 20 MB and 200,000 rows. "
        "It is read and not kept.",
    )
    mechanism = forms.ChoiceField(widget=forms.RadioSelect)
    epsilon = DecimalText(
        initial="1",
        label="ε of one report",
        help_text="For places within the radius of each other. More ε: places nearer to the truth, less "
        "protection.",
    )
    radius_m = DecimalText(
        label="Radius", help_text="Whole metres: places this near to each other are hard to tell apart."
    )
    max_reports = DecimalText(
        initial="1",
        label="Rows of one person, at most",
        help_text="What is promised is for a person with so many rows; each row adds its ε.",
    )
    leave_out = forms.BooleanField(
        required=False, label="Leave out further rows of a person (else such a file is refused)"
    )
    cell_m = DecimalText(
        required=False,
        label="Size of the cells that are reported",
        help_text="Metres, at most. Left empty: a small part of the radius.",
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
        self.entries = choices.entries()
        field = self.fields["mechanism"]
        if isinstance(field, forms.ChoiceField):  # as it is: types do not know that
            field.choices = [(entry.name, entry.title) for entry in self.entries]
        field.initial = self.entries[0].name
        self.fields["radius_m"].initial = str(dataset.radius_m or _USUAL_RADIUS_M)

    @property
    def mechanisms(self) -> list[tuple[str, str, str, bool]]:
        """(name, title, summary, chosen)."""
        chosen = self["mechanism"].value()
        return [(one.name, one.title, one.summary, one.name == chosen) for one in self.entries]

    def question(self) -> BlurQuestion:
        """Once the form is valid."""
        typed = self.cleaned_data
        return BlurQuestion(
            mechanism=typed["mechanism"],
            epsilon=typed["epsilon"],
            radius_m=typed["radius_m"],
            max_reports=typed["max_reports"],
            cell_m=typed["cell_m"] or None,
            leave_out=typed["leave_out"],
            columns=typed["columns"],
        )

    def as_it_stands(self) -> BlurQuestion:
        """With what was typed so far, or is offered: nothing of it is checked yet."""
        typed = {name: str(self[name].value() or "") for name in self.fields if name != "file"}
        return BlurQuestion(
            mechanism=typed["mechanism"],
            epsilon=typed["epsilon"],
            radius_m=typed["radius_m"],
            max_reports=typed["max_reports"],
            cell_m=typed["cell_m"] or None,
        )

    def explain(self, error: ParameterError) -> None:
        """Put a refusal beside its field."""
        explain(self, error, {"max_rejected": "file"})
