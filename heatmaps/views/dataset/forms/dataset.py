"""Asks for the facts of a new dataset."""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from django import forms
from django.utils.text import slugify

from heatmaps import origins
from heatmaps.collections.collection import NewCollection
from heatmaps.datasets import NewDataset
from heatmaps.models import AccountKind, RowCapacity
from heatmaps.origins import ORIGINS, Origin
from heatmaps.origins.devices import DEVICES
from heatmaps.origins.lake import LAKE
from heatmaps.origins.uploads import UPLOADS
from heatmaps.views.dataset.forms.retention import RetentionFields
from heatmaps.views.dataset.forms.schedule import SCHEDULE_FIELDS, ScheduleFields, schedule_of
from heatmaps.views.fields import DecimalText, PlainNumber, WholeNumber, explain, offer
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region

# What most datasets leave as it is: on the page where somebody asks for it.
MORE: Final = (
    *("slug", "expected_persons", "delta_limit", "row_capacity", "retention_days"),
    *("every", "hour", "weekday", "day"),
)
_TITLES: Final = {Relation.ADD_REMOVE: "Add or remove", Relation.REPLACE: "Replace"}
_HIDES: Final = {
    Relation.ADD_REMOVE: "Hides whether a person is in the data at all, and how many are.",
    Relation.REPLACE: "Hides where a person was. Who is enrolled is known.",
}
_STRONGEST: Final = {"strong": 1, "fair": 5}  # a limit up to this ε is called so, a greater one weak
_FIELDS: Final = {
    "bbox": "west",
    "limits.presence": "presence_limit",
    "limits.record": "record_limit",
    "limits.radius": "radius_limit",
    "limits.delta": "delta_limit",
    "source": "lake",
} | SCHEDULE_FIELDS


class DatasetForm(RetentionFields, ScheduleFields):
    """Checks a new dataset: valid once `NewDataset` accepts it, which is then in `new`."""

    title = forms.CharField(
        max_length=120,
        initial="",
        widget=forms.TextInput(attrs={"placeholder": "Austin, check-ins of 2025", "autocomplete": "off"}),
    )
    slug = forms.CharField(
        max_length=60,
        required=False,
        label="Address",
        help_text="In links: lower-case letters, digits, hyphens. Empty: made from the title.",
    )
    west = PlainNumber(min_value=-180, max_value=180)
    south = PlainNumber(min_value=-90, max_value=90)
    east = PlainNumber(min_value=-180, max_value=180)
    north = PlainNumber(min_value=-90, max_value=90)
    relation = forms.ChoiceField(
        choices=[(relation.value, title) for relation, title in _TITLES.items()],
        initial=Relation.ADD_REMOVE.value,
        widget=forms.RadioSelect,
    )
    presence_limit = DecimalText(
        required=False,
        initial="4",
        label="Limit of presence ε",
        help_text="All maps share it. 1 is strong, 10 is weak.",
    )
    expected_persons = WholeNumber(
        required=False,
        min_value=1,
        initial=1000,
        label="Expected number of people",
        help_text="A public guess, made without looking at the data. It makes maps better.",
    )
    persons = WholeNumber(
        required=False,
        min_value=1,
        label="Declared number of people, n",
        help_text="Public: everyone who can take part. More are refused.",
    )
    radius_m = WholeNumber(
        required=False,
        min_value=1,
        initial=600,
        label="Radius",
        help_text="Moves up to this far get a stronger limit of their own.",
    )
    record_limit = DecimalText(
        required=False,
        initial="4",
        label="Limit of whole-record ε",
        help_text="Empty: no limit.",
    )
    radius_limit = DecimalText(
        required=False,
        initial="1",
        label="Limit of radius ε",
        help_text="Empty: no limit.",
    )
    delta_limit = DecimalText(
        required=False,
        initial="0",
        label="Limit of δ",
        help_text="A probability beside ε, 0 to 1. 0: only methods without δ.",
    )

    source = forms.ChoiceField(
        choices=[(origin.name, origin.words.choice) for origin in ORIGINS],
        required=False,
        initial=UPLOADS.name,
    )
    lake = forms.ChoiceField(
        required=False,
        label="Table",
        help_text="Check-ins stay there; this server reads sums only. Fixed for good.",
    )
    question = forms.CharField(
        required=False,
        max_length=300,
        label="What people are asked",
        widget=forms.TextInput(attrs={"placeholder": "Where did you wait for a bus today?"}),
    )
    analyser_operator = forms.CharField(
        required=False, max_length=120, label="Who runs this server", help_text="Public."
    )
    shuffler_operator = forms.CharField(
        required=False,
        max_length=120,
        label="Who runs the shuffler",
        help_text="Public. If it is the same, only what each device does alone is promised.",
    )
    shuffler_url = forms.CharField(
        required=False,
        max_length=200,
        label="Address of the shuffler",
        widget=forms.TextInput(attrs={"placeholder": "https://shuffler.example", "autocomplete": "off"}),
    )
    open_link = forms.BooleanField(
        required=False, label="One open link for everybody: the promise is for each report only"
    )

    row_capacity = forms.TypedChoiceField(
        required=False,
        coerce=int,
        choices=[(size.value, f"{size.label} check-ins") for size in RowCapacity],
        initial=RowCapacity.MEDIUM.value,
        label="Size",
        help_text="Fixed for good. Maps of larger datasets take longer.",
    )

    def __init__(self, *arguments: Any, lakes: Collection[str] = (), **named: Any) -> None:
        """Offers `lakes`, the names of the tables that can be read."""
        super().__init__(*arguments, **named)
        offer(self, "lake", [(name, name) for name in lakes])
        self.word_for(self.origin)

    new: NewDataset
    analyser_url = ""  # this server's origin, as the page was asked for

    @classmethod
    def unsent(cls, typed: Mapping[str, str], lakes: Collection[str]) -> "DatasetForm":
        """Returns the form as it was typed so far: nothing of it is checked yet."""
        return cls(initial={name: typed[name] for name in cls.base_fields if name in typed}, lakes=lakes)

    @property
    def relations(self) -> list[tuple[str, str, str, bool]]:
        """Returns (value, title, what it hides, whether it is selected) of each relation."""
        relation = _relation(self.origin, self["relation"].value())
        offered = [Relation(name) for name in self.origin.relations]
        return [(each.value, _TITLES[each], _HIDES[each], each == relation) for each in offered]

    @property
    def origin(self) -> Origin:
        """Returns the origin of its check-ins."""
        return origins.of_name(self["source"].value() or "")

    @property
    def origins(self) -> list[tuple[str, str, bool]]:
        """Returns (name, title, whether it is this form's) of where check-ins can come from here."""
        name = self["source"].value() or UPLOADS.name
        lakes = self["lake"].subwidgets
        offered = [origin for origin in ORIGINS if origin is not LAKE or self.origin is LAKE or lakes]
        return [(origin.name, origin.words.choice, name == origin.name) for origin in offered]

    @property
    def usual_size(self) -> str:
        """Says how many check-ins a dataset holds where nobody says."""
        return RowCapacity.MEDIUM.label

    @property
    def strengths(self) -> str:
        """Returns, as JSON for the page's script, which ε is called what."""
        return json.dumps(_STRONGEST)

    @property
    def needs_more(self) -> bool:
        """Tells whether something is wrong with a field that is shown on demand."""
        return any(name in self.errors for name in MORE)

    def clean_expected_persons(self) -> int | None:
        """Reads the guess: none where it is left empty, the usual one where the page had no such field."""
        has_field = self.add_prefix("expected_persons") in self.data
        guess: int | None = self.cleaned_data["expected_persons"]
        return guess if has_field else self.fields["expected_persons"].initial

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if cleaned.get("source") == LAKE.name and not cleaned.get("lake"):
            self.add_error("lake", "Choose a table.")
        if not self.errors:
            try:
                self.new = _new_dataset(cleaned, self.analyser_url)
            except ParameterError as error:
                explain(self, error, _FIELDS)
        return cleaned


def _new_dataset(typed: dict[str, Any], analyser_url: str) -> NewDataset:
    origin = origins.of_name(typed["source"])
    relation = Relation(_relation(origin, typed["relation"]))
    replace = relation is Relation.REPLACE
    return NewDataset(
        slug=typed["slug"] or slugify(typed["title"])[:60].strip("-"),
        title=typed["title"],
        region=Region(typed["west"], typed["south"], typed["east"], typed["north"]),
        relation=relation,
        limits=_limits(typed, replace=replace, usual_delta=origin.usual_delta),
        persons=typed["persons"] if replace else None,
        radius_m=typed["radius_m"] if replace else None,
        expected_persons=None if replace else typed["expected_persons"],
        schedule=schedule_of(typed),
        retention_days=typed["retention_days"],
        row_capacity=typed["row_capacity"] or RowCapacity.MEDIUM,
        **_own_facts(origin, typed, analyser_url),
    )


def _relation(origin: Origin, typed: str) -> str:
    """Returns the relation that was typed, or the only one that an origin has."""
    return origin.relations[0] if len(origin.relations) == 1 else typed


def _own_facts(origin: Origin, typed: dict[str, Any], analyser_url: str) -> dict[str, Any]:
    """Returns the facts of `NewDataset` that one origin has alone."""
    if origin is LAKE:
        return {"source": typed["lake"]}
    if origin is DEVICES:
        names = ("question", "analyser_operator", "shuffler_operator", "shuffler_url", "open_link")
        typed_facts = {name: typed[name] for name in names}
        return {"collection": NewCollection(analyser_url=analyser_url, **typed_facts)}
    return {}


def _limits(typed: dict[str, Any], *, replace: bool, usual_delta: str) -> dict[AccountKind, str | None]:
    delta = {AccountKind.DELTA: typed["delta_limit"] or usual_delta}
    if not replace:
        return {AccountKind.PRESENCE: typed["presence_limit"], **delta}
    return {
        AccountKind.RECORD: typed["record_limit"] or None,
        AccountKind.RADIUS: typed["radius_limit"] or None,
        **delta,
    }
