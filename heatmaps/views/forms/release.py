"""The form of a new release, driven by the catalogue: mechanisms, and the parameters of the chosen one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from heatmaps.models import Dataset
from heatmaps.releases import ReleaseRequest
from heatmaps.views.forms.shared import DecimalText, explain
from mechanisms import catalogue
from mechanisms.catalogue import Entry, Parameter
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation

_RESOLUTIONS: Final = tuple(2**level for level in range(4, 13))
_USUAL_RESOLUTION: Final = 256
_USUAL_EPSILON: Final = "1"
_USUAL_MECHANISM: Final = "sparse-emd"


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismFields:
    """One mechanism of the form with the bound fields of its own parameters."""

    entry: Entry
    chosen: bool
    fields: tuple[forms.BoundField, ...]


class ReleaseForm(forms.Form):
    """Shape only: what a mechanism allows is checked when it is quoted."""

    mechanism = forms.ChoiceField(widget=forms.RadioSelect)
    resolution = forms.TypedChoiceField(
        coerce=int,
        initial=_USUAL_RESOLUTION,
        help_text="Cells along each side of the region. Finer is not more accurate: noise grows with cells.",
    )
    epsilon = DecimalText(
        initial=_USUAL_EPSILON,
        label="ε of this release",
        help_text="What it may cost, exact to the last digit. More ε: a more accurate map, less protection.",
    )

    def __init__(self, dataset: Dataset, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.entries = catalogue.entries(relation=Relation(dataset.relation), kind="heatmap")
        names = [entry.name for entry in self.entries]
        _choice(self, "mechanism").choices = [(entry.name, entry.title) for entry in self.entries]
        self.fields["mechanism"].initial = _USUAL_MECHANISM if _USUAL_MECHANISM in names else names[0]
        most = max(entry.max_resolution for entry in self.entries)
        _choice(self, "resolution").choices = [
            (str(side), f"{side} × {side} cells") for side in _RESOLUTIONS if side <= most
        ]
        for entry in self.entries:
            for parameter in entry.parameters:
                self.fields[_field_name(entry, parameter)] = _field(parameter)

    @property
    def mechanisms(self) -> list[MechanismFields]:
        chosen = self["mechanism"].value()
        return [
            MechanismFields(
                entry=entry,
                chosen=entry.name == chosen,
                fields=tuple(self[_field_name(entry, parameter)] for parameter in entry.parameters),
            )
            for entry in self.entries
        ]

    def request(self) -> ReleaseRequest:
        """What was asked for, once the form is valid."""
        typed = self.cleaned_data
        entry = next(entry for entry in self.entries if entry.name == typed["mechanism"])
        return ReleaseRequest(
            mechanism=entry.name,
            epsilon=typed["epsilon"],
            resolution=typed["resolution"],
            parameters=_parameters(entry, typed),
        )

    def explain(self, error: ParameterError) -> None:
        """Put a refusal beside the field it is about."""
        chosen = self.cleaned_data["mechanism"]
        own = {
            parameter.name: _field_name(entry, parameter)
            for entry in self.entries
            if entry.name == chosen
            for parameter in entry.parameters
        }
        explain(self, error, own)

    def typed(self) -> list[tuple[str, str]]:
        """(name, value) of what was asked for, to be asked for once more when it is paid."""
        chosen = self.cleaned_data["mechanism"]
        foreign = {
            _field_name(entry, parameter)
            for entry in self.entries
            if entry.name != chosen
            for parameter in entry.parameters
        }
        return [(name, str(self[name].value() or "")) for name in self.fields if name not in foreign]


def _field_name(entry: Entry, parameter: Parameter) -> str:
    return f"{entry.name}.{parameter.name}"


def _field(parameter: Parameter) -> forms.Field:
    """Always optional: the fields of the mechanisms that were not chosen stay empty; the default is shown."""
    words: dict[str, Any] = {"label": parameter.title, "help_text": parameter.help, "required": False}
    initial = "" if parameter.default is None else str(parameter.default)
    if parameter.kind == "int":
        return forms.IntegerField(initial=initial, **words)
    return DecimalText(initial=initial, **words)


def _parameters(entry: Entry, typed: Mapping[str, Any]) -> dict[str, object]:
    """The chosen mechanism's parameters, those left empty left out."""
    values = {parameter.name: typed[_field_name(entry, parameter)] for parameter in entry.parameters}
    return {name: value for name, value in values.items() if value not in (None, "")}


def _choice(form: forms.Form, name: str) -> forms.ChoiceField:
    field = form.fields[name]
    if not isinstance(field, forms.ChoiceField):
        raise TypeError(f"{name} is no choice")
    return field
