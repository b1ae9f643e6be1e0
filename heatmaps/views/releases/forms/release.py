"""Asks for a new release, in a form built from the catalogue."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any, Final, Self

from django import forms

from heatmaps.data_slice import EDGES
from heatmaps.models import Dataset
from heatmaps.releases.epsilon import for_protection
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.views.fields import DecimalText, WholeNumber, degrees_field, explain, offer
from heatmaps.views.releases.forms import mechanisms, start
from heatmaps.views.releases.forms.gathering import GATHERINGS, Gathering, file_box, geojson_box
from heatmaps.views.releases.forms.mechanisms import MechanismFields, MechanismGroup
from heatmaps.views.releases.forms.start import NEWEST
from heatmaps.wording import mechanism_choice
from heatmaps.wording.mechanism_choice import Answers
from heatmaps.wording.parameters import unit
from mechanisms.catalogue import registry
from mechanisms.catalogue.registry import AnyEntry, Parameter
from mechanisms.check import ParameterError

_RESOLUTIONS: Final = tuple(2**level for level in range(4, 13))
_USUAL_RESOLUTION: Final = 256
_USUAL_EPSILON: Final = "1"
_USUAL_MECHANISM: Final = "adaptive"
_WITHOUT_PERSONS: Final = "sparse-emd"  # where no number of persons is public
_EDGE_FIELDS: Final = {"rectangle": EDGES[0]} | {f"rectangle.{edge}": edge for edge in EDGES}
_PERIOD_FIELDS: Final = ("since", "since_time", "until", "until_time")
# Of maps and points; where things are gathered, boxes of the same names are for one thing more.
_NOT_GATHERED: Final = ("mechanism", "resolution", "delta", "error_m", "guide", "proposed", *EDGES)


def _moment_field(kind: str, **words: Any) -> forms.CharField:
    """Makes a field for a date or a time of day as it was typed: what it may be, the question says."""
    widget = forms.TextInput(
        attrs={"type": kind, "autocomplete": "off"} | ({"step": "1"} if kind == "time" else {})
    )
    return forms.CharField(required=False, widget=widget, **words)


class ReleaseForm(forms.Form):
    """Checks shape only: what a mechanism allows is checked when it is quoted.

    It offers one mechanism of several, or it gathers what its only mechanism asks about: zones, places.
    """

    mechanism = forms.ChoiceField(widget=forms.RadioSelect)
    resolution = forms.TypedChoiceField(
        coerce=int,
        empty_value=None,
        required=False,  # of maps only; a map without one is refused by name
        initial=_USUAL_RESOLUTION,
    )
    epsilon = DecimalText(initial=_USUAL_EPSILON, label="ε of this release")
    delta = DecimalText(
        label="δ of this release",
        required=False,
        help_text="The probability that the promise does not hold: far below one over the number of people.",
    )
    error_m = DecimalText(label="or an error of at most", unit="m", required=False)
    guide = forms.CharField(label="Start from", required=False, initial=NEWEST)
    proposed = forms.CharField(required=False)  # what the page had selected of guides
    since = _moment_field("date", label="From")
    since_time = _moment_field("time", label="From, time of day")
    until = _moment_field("date", label="Until")
    until_time = _moment_field("time", label="Until, time of day")
    west, south, east, north = (degrees_field() for _ in EDGES)

    def __init__(
        self,
        dataset: Dataset,
        entries: Sequence[AnyEntry],
        data: Mapping[str, Any] | None = None,
        files: Any = None,
        answers: Answers | None = None,
        *,
        kind: str = "",
        completed: Collection[str] = (),
    ) -> None:
        """Opens with the `kind` of result that is selected from the start; empty: a map, where there is one.

        `completed`: names of fields that get what they open with where nothing was sent of them.
        """
        super().__init__(data, files)
        self._dataset, self.entries, self.answers = dataset, entries, answers or Answers()
        self._kind = kind
        self.gathering: Gathering | None = None
        self._text = ""  # name of the field that holds what is gathered
        self.gathered: list[Any] = []  # zones or places, once the form is valid
        self._boxes: dict[str, forms.Field] = {}  # for one thing more
        self._own = {entry.name: self._add_parameters(entry) for entry in entries}
        if self.gathering is None:
            self._offer_mechanisms()
        else:
            self._offer_boxes(self.gathering)
        missing = [name for name in completed if name in self.fields and name not in self.data]
        if self.is_bound and missing:
            opened = {name: self.get_initial_for_field(self.fields[name], name) for name in missing}
            self.data = opened | dict(self.data.items())
        self.start = start.submitted_start(dataset, self.data.get("guide", ""), self.data.get("proposed", ""))
        if not self.is_bound and self.selected_mechanism is not None:
            self.start = start.initial_start(
                dataset, self.selected_mechanism.entry, str(self["epsilon"].value())
            )

    def clean(self) -> dict[str, Any]:
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        if self.gathering is not None:
            try:
                self._gather(self.gathering, typed)
            except ParameterError as error:
                self.explain(error)
        elif not self.errors:
            self._start(typed)
        return typed

    @property
    def entry(self) -> AnyEntry:
        """Returns the entry of the selected mechanism, once the form is valid."""
        return registry.get(self.cleaned_data.get("mechanism", self.entries[0].name))

    @property
    def mechanisms(self) -> list[MechanismFields]:
        selection = self["mechanism"].value() if "mechanism" in self.fields else self.entries[0].name
        fitting = [entry.name for entry in sorted(self.entries, key=_usual_first) if self.answers.fit(entry)]
        if fitting and not self.is_bound and selection not in fitting:
            selection = fitting[0]
        return [
            MechanismFields(
                entry=entry,
                is_selected=entry.name == selection,
                fits=entry.name in (*fitting, selection if self.is_bound else ""),
                trusted=mechanism_choice.trusted(entry),
                protected=mechanism_choice.protected(entry),
                who=mechanism_choice.who(entry),
                usual_epsilon=self._usual_epsilons[mechanism_choice.protected(entry)],
                fields=tuple(self[name] for name in self._own[entry.name].values() if name != self._text),
            )
            for entry in self.entries
        ]

    @cached_property
    def _usual_epsilons(self) -> dict[str, str]:
        """Returns the usual ε by what is protected; from the limits of all accounts."""
        return {
            "record": for_protection.usual_flat_epsilon(self._dataset),
            "moves": for_protection.usual_epsilon(self._dataset),
        }

    @property
    def selected_mechanism(self) -> MechanismFields | None:
        """Returns the mechanism that is selected; None where the form names none that there is."""
        return next((fields for fields in self.mechanisms if fields.is_selected), None)

    @property
    def shows_own(self) -> bool:
        """Tells whether fields of the selected mechanism are shown: where they matter to whoever asks."""
        selected = self.selected_mechanism
        if selected is None:
            return False
        field = self.fields.get("mechanism")
        is_usual = field is not None and selected.entry.name == field.initial
        return not is_usual or selected.is_set or self._dataset.public_persons is None

    @property
    def groups(self) -> list[MechanismGroup]:
        """Groups the mechanisms; what is selected from the start stands before the rest."""
        first = self.fields["mechanism"].initial
        return mechanisms.groups(self.mechanisms, first=first, answers=self.answers)

    @property
    def questions(self) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
        return mechanisms.questions(self._dataset, self.answers)

    @property
    def nothing_fits(self) -> bool:
        return not any(self.answers.fit(entry) for entry in self.entries)

    @property
    def asks_for_a_slice(self) -> bool:
        """Tells whether anything was typed, or refused, about a data slice."""
        names = _PERIOD_FIELDS if self.gathering else (*_PERIOD_FIELDS, *EDGES)
        return any(self[name].value() or self[name].errors for name in names)

    @property
    def typed_start(self) -> list[tuple[str, str]]:
        """Returns the fields that `typed` leaves to the page, which is spent as it was shown."""
        shows = self.start.is_proposed and self.start.guide is not None
        return [("guide", self.start.value)] if shows else []

    @property
    def text(self) -> forms.BoundField:
        """Returns the field that holds what is gathered."""
        return self[self._text]

    def request(self) -> ReleaseRequest:
        """Returns the question, once the form is valid."""
        typed, entry = self.cleaned_data, self.entry
        values = {parameter: typed[name] for parameter, name in self._own[entry.name].items()}
        edges = [] if self.gathering else [typed[name] for name in EDGES]
        return ReleaseRequest(
            mechanism=entry.name,
            epsilon=typed["epsilon"],
            delta=(typed["delta"] or None) if entry.usual_delta else None,
            resolution=typed["resolution"] if entry.max_resolution else None,
            parameters={name: value for name, value in values.items() if value not in (None, "")},
            rectangle=edges if any(edges) else None,
            since=self._moment("since"),
            until=self._moment("until"),
            guide=None if self.start.guide is None else str(self.start.guide.id),
        )

    def at(self, epsilon: str, **changes: str) -> Self:
        """Returns the same question at another ε, whatever that was found by, and with other fields."""
        answered = dict(self.data.items()) | {"epsilon": epsilon, "error_m": ""} | changes
        filled = type(self)(self._dataset, self.entries, answered, answers=self.answers)
        filled.full_clean()
        return filled

    def typed(self) -> list[tuple[str, str]]:
        """Returns (name, value) of what was asked for, to be asked for once more when it is paid."""
        entry = self.entry
        left_out = {"error_m", "file", *self._boxes}  # answered by an ε; in the text
        left_out |= {"proposed", *(["guide"] if self.start.is_proposed else [])}  # made anew
        left_out |= {name for other, own in self._own.items() if other != entry.name for name in own.values()}
        left_out |= set() if entry.max_resolution else {"resolution"}
        left_out |= set() if entry.usual_delta else {"delta"}
        pairs = [(name, str(self[name].value() or "")) for name in self.fields if name not in left_out]
        return pairs + [(name, value) for name, value in asdict(self.answers).items() if value]

    def explain(self, error: ParameterError) -> None:
        """Puts a refusal beside the field it is about."""
        fields = _EDGE_FIELDS | {"region": "mechanism"} | self._own[self.entry.name]
        explain(self, error, fields | ({"resolution": self._text} if self.gathering else {}))

    def _add_parameters(self, entry: AnyEntry) -> dict[str, str]:
        """Makes fields for the parameters of a mechanism, and returns their names."""
        prefix = f"{entry.name}." if len(self.entries) > 1 else ""
        for parameter in entry.parameters:
            self.fields[f"{prefix}{parameter.name}"] = _field(parameter)
            if parameter.kind in GATHERINGS:
                self.gathering, self._text = GATHERINGS[parameter.kind], f"{prefix}{parameter.name}"
        return {parameter.name: f"{prefix}{parameter.name}" for parameter in entry.parameters}

    def _offer_mechanisms(self) -> None:
        names = [entry.name for entry in self.entries]
        usual = _WITHOUT_PERSONS if self._dataset.public_persons is None else _USUAL_MECHANISM
        offer(self, "mechanism", [(entry.name, entry.title) for entry in self.entries])
        first = [usual, *(entry.name for entry in sorted(self.entries, key=_usual_first))]
        fitting = [name for name in first if name in names and self._kind in ("", registry.get(name).kind)]
        self.fields["mechanism"].initial = fitting[0] if fitting else names[0]
        self.fields["epsilon"].initial = self._usual_epsilon
        most = max(entry.max_resolution for entry in self.entries)
        sides = [side for side in _RESOLUTIONS if side <= most]
        offer(self, "resolution", [(str(side), str(side)) for side in sides])
        deltas = [entry.usual_delta for entry in self.entries if entry.usual_delta]
        if deltas:
            self.fields["delta"].initial = deltas[0]
        else:
            del self.fields["delta"]

    def _usual_epsilon(self) -> str:
        return self.selected_mechanism.usual_epsilon if self.selected_mechanism else _USUAL_EPSILON

    def _offer_boxes(self, gathering: Gathering) -> None:
        for name in _NOT_GATHERED:
            del self.fields[name]
        self._boxes = gathering.boxes()
        self.fields |= {"file": file_box(), **self._boxes}
        self.fields["epsilon"].initial = partial(for_protection.usual_epsilon, self._dataset)

    def _gather(self, gathering: Gathering, typed: dict[str, Any]) -> None:
        """Puts everything that was given together, in the one spelling. Errors: `ParameterError`."""
        things = gathering.read(typed.get(self._text, "")) + gathering.read_file(typed.get("file"))
        if typed.get("file"):
            self._show(gathering.text(things))  # no browser fills in a chosen file again
        things += gathering.boxed(typed, len(things) + 1)
        if things:
            typed[self._text] = gathering.collection(tuple(things))
        elif not self.errors:
            self.add_error(self._text, gathering.nothing_yet)
        if not self.errors:
            self.gathered = things
            self._show(gathering.text(things), emptied=self._boxes)

    def _show(self, text: str, emptied: Collection[str] = ()) -> None:
        """Puts what was gathered into the form, which is shown once more."""
        rest = {name: value for name, value in self.data.items() if name not in emptied}
        self.data = rest | {self._text: text}

    def _start(self, typed: dict[str, Any]) -> None:
        """Sets what the map starts from; what else is wrong with the question, its quote says."""
        try:
            looks_for_epsilon = bool(typed["error_m"])
            self.start = start.start_for_question(self.start, self.entry, self.request(), looks_for_epsilon)
        except ParameterError:
            return
        if self.start.refusal:
            self.add_error("guide", self.start.refusal)

    def _moment(self, bound: str) -> str | None:
        """Returns `since` or `until` of a request."""
        day, time = self.cleaned_data[bound], self.cleaned_data[f"{bound}_time"]
        return f"{day}T{time}" if time else day or None


def _usual_first(entry: AnyEntry) -> tuple[bool, bool, bool]:
    """Orders what is folded away last; before that points after maps, and what needs a δ after what needs
    none."""
    return entry.aside, not entry.max_resolution, bool(entry.usual_delta)


def _field(parameter: Parameter) -> forms.Field:
    """Makes a field that is always optional: those of other mechanisms stay empty; the default is shown."""
    words: dict[str, Any] = {"label": parameter.title, "help_text": parameter.help, "required": False}
    if parameter.kind in GATHERINGS:
        return geojson_box(**words)
    words |= {"initial": parameter.default, "unit": unit(parameter.name)}
    if parameter.kind == "decimal":
        return DecimalText(**words)
    field = WholeNumber(**words)
    # For the arrows of the box only: a refusal names the bounds in words.
    field.widget.attrs |= {"min": parameter.low, "max": parameter.high}
    return field
