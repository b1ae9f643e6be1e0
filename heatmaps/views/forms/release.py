"""The form of a new release, driven by the catalogue: mechanisms, and the parameters of the chosen one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from django import forms

from heatmaps.models import Dataset
from heatmaps.releases import ReleaseRequest
from heatmaps.slices import EDGES
from heatmaps.views.forms.period import PERIOD_FIELDS, PeriodForm
from heatmaps.views.forms.shared import DecimalText, WholeNumber, degrees_field, explain
from heatmaps.wording import choosing
from heatmaps.wording.choosing import Answers
from mechanisms import catalogue
from mechanisms.catalogue import AnyEntry, Entry, Kind, Parameter
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation

KINDS: Final[Mapping[Kind, str]] = {
    "heatmap": "A map of where persons are",
    "centroid": "One central point",
}
_RESOLUTIONS: Final = tuple(2**level for level in range(4, 13))
_USUAL_RESOLUTION: Final = 256
_USUAL_EPSILON: Final = "1"
_USUAL_MECHANISM: Final = "adaptive"
_WITHOUT_PERSONS: Final = "sparse-emd"  # where no number of persons is public
_EDGE_FIELDS: Final = {"within": EDGES[0]} | {f"within.{edge}": edge for edge in EDGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismFields:
    """One mechanism of the form with the bound fields of its own parameters."""

    entry: AnyEntry
    chosen: bool
    fits: bool  # what was said of trust and protection
    who_and_what: str  # is trusted, is protected
    fields: tuple[forms.BoundField, ...]

    @property
    def trusted(self) -> str:
        return choosing.trusted(self.entry)

    @property
    def protected(self) -> str:
        return choosing.protected(self.entry)

    @property
    def kind(self) -> str:
        """In words."""
        return KINDS[self.entry.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Mechanisms for one kind of result: those most people want, and the others, folded away."""

    title: str
    usual: tuple[MechanismFields, ...]
    others: tuple[MechanismFields, ...]
    opens: bool  # the chosen one, or one that was asked for by an answer, is among the others

    @property
    def others_title(self) -> str:
        return f"{len(self.others)} more: baselines, simulations and special cases"


class ReleaseForm(PeriodForm):
    """Shape only: what a mechanism allows is checked when it is quoted."""

    mechanism = forms.ChoiceField(widget=forms.RadioSelect)
    resolution = forms.TypedChoiceField(
        coerce=int,
        empty_value=None,
        required=False,  # of maps only; a map without one is refused by name
        initial=_USUAL_RESOLUTION,
        help_text="Cells along each side of the region. Finer is not more accurate: noise grows with cells.",
    )
    epsilon = DecimalText(
        initial=_USUAL_EPSILON,
        label="ε of this release",
        help_text="What it may cost, exact to the last digit. More ε: a better result, less protection.",
    )

    delta = DecimalText(
        label="δ of this release",
        required=False,
        help_text="The probability beside ε with which the promise may not hold: far below one over the "
        "number of persons. Only for mechanisms that need one; 0.000000001 is one in a thousand million.",
    )
    error_m = DecimalText(
        label="Or: predicted error of at most",
        required=False,
        help_text="The least ε is found at which what is predicted is no more; nothing is read for that. "
        "Typed here, the ε beside it is not looked at.",
    )
    west, south, east, north = (degrees_field() for _ in EDGES)

    def __init__(
        self, dataset: Dataset, data: Mapping[str, Any] | None = None, answers: Answers | None = None
    ) -> None:
        super().__init__(data)
        self._dataset, self.answers = dataset, answers or Answers()
        # What other kinds ask for has pages of its own.
        self.entries = tuple(
            entry for entry in catalogue.entries(relation=Relation(dataset.relation)) if entry.kind in KINDS
        )
        names = [entry.name for entry in self.entries]
        _choice(self, "mechanism").choices = [(entry.name, entry.title) for entry in self.entries]
        usual = _WITHOUT_PERSONS if dataset.public_persons is None else _USUAL_MECHANISM
        usual_deltas = [entry.usual_delta for entry in self.entries if entry.usual_delta]
        self.fields["delta"].initial = usual_deltas[0] if usual_deltas else ""
        self.fields["mechanism"].initial = usual if usual in names else names[0]
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
        usual_first = sorted(self.entries, key=lambda entry: entry.aside)  # nothing folded away before them
        fitting = [entry.name for entry in usual_first if self.answers.fit(entry)]
        if fitting and not self.is_bound and chosen not in fitting:
            chosen = fitting[0]
        return [
            MechanismFields(
                entry=entry,
                chosen=entry.name == chosen,
                fits=entry.name in (*fitting, chosen if self.is_bound else ""),
                who_and_what=choosing.words(entry, self._dataset),
                fields=tuple(self[_field_name(entry, parameter)] for parameter in entry.parameters),
            )
            for entry in self.entries
        ]

    @property
    def groups(self) -> list[Group]:
        """By kind, what is chosen from the start before the rest."""
        all_of_them, first = self.mechanisms, self.fields["mechanism"].initial
        made = []
        for kind, title in KINDS.items():
            own = [one for one in all_of_them if one.entry.kind == kind]
            own.sort(key=lambda one: one.entry.name != first)
            others = tuple(one for one in own if one.entry.aside)
            opens = any(one.chosen or (self.answers.any and one.fits) for one in others)
            usual = tuple(one for one in own if not one.entry.aside)
            made += [Group(title=title, usual=usual, others=others, opens=opens)] if own else []
        return made

    @property
    def may_take_delta(self) -> bool:
        """Whether any mechanism of the dataset needs one."""
        return any(entry.usual_delta for entry in self.entries)

    @property
    def questions(self) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
        """(name, question, [(value, words, chosen)]) of who is trusted and what is to be protected."""
        protections = choosing.protections(self._dataset)
        asked = (
            ("trusted", "Who may be trusted?", choosing.TRUSTED, self.answers.trusted),
            ("protects", "What has to be protected?", protections, self.answers.protects),
        )
        return [
            (name, question, [(value, text, value == chosen) for value, text in offered])
            for name, question, offered, chosen in asked
        ]

    @property
    def nothing_fits(self) -> bool:
        return not any(self.answers.fit(entry) for entry in self.entries)

    def request(self) -> ReleaseRequest:
        """What was asked for, once the form is valid."""
        typed = self.cleaned_data
        entry = next(entry for entry in self.entries if entry.name == typed["mechanism"])
        return ReleaseRequest(
            mechanism=entry.name,
            epsilon=typed["epsilon"],
            delta=(typed["delta"] or None) if entry.usual_delta else None,
            resolution=typed["resolution"] if entry.max_resolution else None,
            parameters=_parameters(entry, typed),
            within=[typed[name] for name in EDGES] if any(typed[name] for name in EDGES) else None,
            since=self.moment("since"),
            until=self.moment("until"),
        )

    def at(self, epsilon: str) -> Self:
        """The same question at another ε, whatever that was found by."""
        answered = dict(self.data.items()) | {"epsilon": epsilon, "error_m": ""}
        filled = type(self)(self._dataset, answered, self.answers)
        filled.full_clean()
        return filled

    @property
    def part_fields(self) -> tuple[str, ...]:
        return (*PERIOD_FIELDS, *EDGES)

    def explain(self, error: ParameterError) -> None:
        """Put a refusal beside the field it is about."""
        chosen = self.cleaned_data["mechanism"]
        own = {
            parameter.name: _field_name(entry, parameter)
            for entry in self.entries
            if entry.name == chosen
            for parameter in entry.parameters
        }
        explain(self, error, own | _EDGE_FIELDS)

    def typed(self) -> list[tuple[str, str]]:
        """(name, value) of what was asked for, to be asked for once more when it is paid."""
        chosen = self.cleaned_data["mechanism"]
        foreign = {
            _field_name(entry, parameter)
            for entry in self.entries
            if entry.name != chosen
            for parameter in entry.parameters
        }
        entry = next(entry for entry in self.entries if entry.name == chosen)
        foreign |= set() if entry.max_resolution else {"resolution"}
        foreign |= set() if entry.usual_delta else {"delta"}
        foreign.add("error_m")  # answered by an ε
        return [(name, str(self[name].value() or "")) for name in self.fields if name not in foreign]


def _field_name(entry: Entry, parameter: Parameter) -> str:
    return f"{entry.name}.{parameter.name}"


def _field(parameter: Parameter) -> forms.Field:
    """Always optional: the fields of the mechanisms that were not chosen stay empty; the default is shown."""
    words: dict[str, Any] = {"label": parameter.title, "help_text": parameter.help, "required": False}
    initial = "" if parameter.default is None else str(parameter.default)
    if parameter.kind == "int":
        return WholeNumber(initial=initial, **words)
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
