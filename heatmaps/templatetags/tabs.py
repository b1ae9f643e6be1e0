"""Tells templates which tabs of a dataset a person may open."""

from dataclasses import dataclass
from typing import Final

from django import template

from heatmaps.ingest import restorations
from heatmaps.models import Dataset
from heatmaps.people.permissions import Act, Person, would_allow
from heatmaps.queries import current_version, waits_for_operator
from heatmaps.wording.guarantee import RELATIONS_IN_SHORT
from mechanisms.guarantee import Relation

register = template.Library()

_TABS: Final = (
    ("map", "Map", "dataset", Act.SEE),
    ("releases", "Releases", "dataset-releases", Act.SEE),
    ("rounds", "Rounds", "dataset-rounds", Act.SEE),
    ("data", "Data", "dataset-data", Act.SEE),
    ("budget", "Budget", "dataset-budget", Act.SEE),
    ("people", "People", "people", Act.SEE),
    ("ledger", "Ledger", "ledger", Act.READ_LEDGER),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    name: str
    title: str
    address: str  # the name of its address


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabs:
    relation: str
    shown: tuple[Tab, ...]
    may_release: bool
    lacks_data: bool  # for those who may upload: no data version yet
    is_restored: bool  # and nobody confirmed it
    may_confirm: bool
    waits_for_operator: bool  # for those who may do something about it


@register.simple_tag
def tabs_of(dataset: Dataset, person: Person) -> Tabs:
    """What stands above each tab; the answer is not a reading, which the page itself notes."""
    return Tabs(
        relation=RELATIONS_IN_SHORT[Relation(dataset.relation)],
        shown=tuple(
            Tab(name=name, title=title, address=address)
            for name, title, address, act in _TABS
            if would_allow(person, dataset, act) and (name != "rounds" or dataset.origin.has_rounds)
        ),
        may_release=would_allow(person, dataset, Act.RELEASE),
        lacks_data=would_allow(person, dataset, Act.UPLOAD) and current_version(dataset) is None,
        is_restored=restorations.waits(dataset),
        may_confirm=would_allow(person, dataset, Act.CONFIRM_RESTORATION),
        waits_for_operator=would_allow(person, dataset, Act.MANAGE_MEMBERS) and waits_for_operator(dataset),
    )
