"""The form of a new dataset."""

from typing import Any, Final

from django import forms
from django.utils.text import slugify

from heatmaps.datasets import NewDataset
from heatmaps.models import AccountKind
from heatmaps.views.forms.retention import RetentionFields
from heatmaps.views.forms.schedule import SCHEDULE_FIELDS, ScheduleFields, schedule_of
from heatmaps.views.forms.shared import DecimalText, PlainNumber, WholeNumber, explain
from heatmaps.wording.guarantee import RELATIONS
from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.guarantee import Relation

_TITLES: Final = {Relation.ADD_REMOVE: "Add or remove", Relation.REPLACE: "Replace"}
_FIELDS: Final = {
    "bbox": "west",
    "limits.presence": "presence_limit",
    "limits.record": "record_limit",
    "limits.radius": "radius_limit",
    "limits.delta": "delta_limit",
} | SCHEDULE_FIELDS


class DatasetForm(RetentionFields, ScheduleFields):
    """Valid once `NewDataset` accepts it, which is then in `new`."""

    title = forms.CharField(
        max_length=120, initial="", help_text="A name for people, such as “Austin, check-ins of 2025”."
    )
    slug = forms.CharField(
        max_length=60,
        required=False,
        label="Address",
        help_text="Lower-case letters, digits and hyphens; stands in links and file names. "
        "Left empty, it is made from the title.",
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
        help_text="The most that all releases together may lose about whether a person is there. ε has no "
        "unit; a factor of e^ε: 1 is strong, 10 is weak.",
    )
    expected_persons = WholeNumber(
        required=False,
        min_value=1,
        initial=1000,
        label="Expected number of persons",
        help_text="A public guess, not a count: it steers how accurate maps become, never what they reveal. "
        "Do not look into the data for it.",
    )
    persons = WholeNumber(
        required=False,
        min_value=1,
        label="Declared number of persons, n",
        help_text="Everyone enrolled, whether they check in or not. It is public, and uploads with more "
        "different users are refused.",
    )
    radius_m = WholeNumber(
        required=False,
        min_value=1,
        initial=600,
        label="Radius",
        help_text="Moves of a record within this distance are accounted for by an account of their own.",
    )
    record_limit = DecimalText(
        required=False,
        initial="4",
        label="Limit of whole-record ε",
        help_text="For the exchange of a whole record against any other. Empty: tracked, not limited.",
    )
    radius_limit = DecimalText(
        required=False,
        initial="1",
        label="Limit of radius ε",
        help_text="For the exchange against a record within the radius. Empty: tracked, not limited.",
    )
    delta_limit = DecimalText(
        required=False,
        initial="0",
        label="Limit of δ",
        help_text="A probability, 0 to 1, that all releases together may use up beside ε. 0 allows only "
        "mechanisms without δ; 0.000001 is one in a million.",
    )

    new: NewDataset

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in ("west", "south", "east", "north"):
            self.fields[name].widget.attrs |= {"step": "any", "autocomplete": "off"}

    @property
    def relations(self) -> list[tuple[str, str, str, bool]]:
        """(value, title, one sentence, chosen) of each relation."""
        chosen = self["relation"].value()
        return [(r.value, title, RELATIONS[r], r.value == chosen) for r, title in _TITLES.items()]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if not self.errors:
            try:
                self.new = _new_dataset(cleaned)
            except ParameterError as error:
                explain(self, error, _FIELDS)
        return cleaned


def _new_dataset(typed: dict[str, Any]) -> NewDataset:
    relation = Relation(typed["relation"])
    replace = relation is Relation.REPLACE
    return NewDataset(
        slug=typed["slug"] or slugify(typed["title"])[:60].strip("-"),
        title=typed["title"],
        region=Region(typed["west"], typed["south"], typed["east"], typed["north"]),
        relation=relation,
        limits=_limits(typed, replace=replace),
        persons=typed["persons"] if replace else None,
        radius_m=typed["radius_m"] if replace else None,
        expected_persons=None if replace else typed["expected_persons"],
        schedule=schedule_of(typed),
        retention_days=typed["retention_days"],
    )


def _limits(typed: dict[str, Any], *, replace: bool) -> dict[AccountKind, str | None]:
    delta = {AccountKind.DELTA: typed["delta_limit"] or "0"}
    if not replace:
        return {AccountKind.PRESENCE: typed["presence_limit"], **delta}
    return {
        AccountKind.RECORD: typed["record_limit"] or None,
        AccountKind.RADIUS: typed["radius_limit"] or None,
        **delta,
    }
