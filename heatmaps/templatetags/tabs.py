"""Tells templates which tabs of a dataset a person may open."""

from dataclasses import dataclass
from typing import Final

from django import template

from heatmaps.ingest import restorations
from heatmaps.models import Dataset
from heatmaps.origins.pages import Tab
from heatmaps.people.permissions import Act, Person, acts_allowed
from heatmaps.queries import current_version, waits_for_operator
from heatmaps.wording.guarantee import RELATIONS_IN_SHORT
from mechanisms.guarantee import Relation

register = template.Library()

_MAPS: Final = (
    Tab(name="map", title="Map", address="dataset"),
    Tab(name="releases", title="Releases", address="dataset-releases"),
)
_MORE: Final = (
    Tab(name="data", title="Data", address="dataset-data"),
    Tab(name="budget", title="Budget", address="dataset-budget"),
    Tab(name="people", title="People", address="people"),
    Tab(name="ledger", title="Ledger", address="ledger"),
)
_ACTS: Final = {"ledger": Act.READ_LEDGER}  # what opens a tab, other than seeing the dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabs:
    relation: str
    links: tuple[Tab, ...]
    may_release: bool
    lacks_data: bool  # for those who may upload: no data version yet
    is_restored: bool  # and nobody confirmed it
    may_confirm: bool
    waits_for_operator: bool  # for those who may do something about it


@register.simple_tag
def tabs_of(dataset: Dataset, person: Person) -> Tabs:
    """Returns the tabs and what stands above each; the answer is no reading, which the page itself notes."""
    own_tab = dataset.origin.tab
    acts = acts_allowed(person, dataset)
    tabs = (*_MAPS, *(() if own_tab is None else (own_tab,)), *_MORE)
    return Tabs(
        relation=RELATIONS_IN_SHORT[Relation(dataset.relation)],
        links=tuple(tab for tab in tabs if _ACTS.get(tab.name, Act.SEE) in acts),
        may_release=Act.RELEASE in acts,
        lacks_data=Act.UPLOAD in acts and current_version(dataset) is None,
        is_restored=restorations.waits(dataset),
        may_confirm=Act.CONFIRM_RESTORATION in acts,
        waits_for_operator=Act.MANAGE_MEMBERS in acts and waits_for_operator(dataset),
    )
