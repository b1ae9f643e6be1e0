"""Lets check-ins stay in their owner's lake: Spark sums them there."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet

from heatmaps.origins.origin import Named, Offer, Origin
from heatmaps.origins.pages import RetentionWords, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake(Origin):
    """Gives a draw a length that does not depend on what is stored here."""

    def slot_seconds(self, dataset: Any) -> float:  # noqa: ARG002 - the same for all
        seconds: float = settings.SOURCE_SLOT_SECONDS
        return seconds

    def has_place(self, dataset: Any, spent: "QuerySet[Any]") -> bool:  # noqa: ARG002 - the same for all
        places: int = settings.SOURCE_PLACES
        return spent.count() < places

    def reader(self) -> str:
        return "lake"


LAKE: Final = Lake(
    name="lake",
    filter=Q(is_collection=False) & ~Q(source=""),
    words=Words(
        choice="From a table in your lake",
        step="Version",
        first_data="version",
        first_step="Make a version",
        joins="of",
        start="Check-ins stay in your lake. Start with a first data version.",
        version="make one",
        sees="This server sees sums of the check-ins with every method.",
        slow="Summed in a lake",
        retention=RetentionWords(
            title="How old check-ins may be",
            without_rule="of any age",
            label="Read check-ins of the last",
            help="Public. Each data version leaves out those of earlier days (UTC). Empty: none.",
        ),
    ),
    has_size_class=False,
    offer=Offer(
        reads=frozenset({"masses", "means"}),
        finest=8192,  # at most 1.6 GB are handed over
        other_mechanism="a method that reads sums: in this dataset check-ins stay in their owner's lake, and "
        "no single record leaves it",
        finer="check-ins stay in their owner's lake",
    ),
    task="heatmaps.source_release",
    refused_files="this dataset reads the table of {source} where it is and takes no files; add check-ins to "
    "that table and make a new data version",
    refused_opt_outs="this dataset reads its opt-outs from the table that the source {source} names; enter "
    "the user there, and take it out there",
    restored_opt_outs="in the table that the dataset reads",
    has_tables_of_versions=True,
    # Reading fails without a charge being lost: who draws is elected after it.
    run=Named("heatmaps.releases.lifecycle.run_in_lake"),
    facts=Named("heatmaps.ledger.facts.source_facts"),
    may_be_read=Named("heatmaps.sources.may_be_read"),
    can_be_read=Named("heatmaps.sources.can_be_read"),
    has_times=Named("heatmaps.sources.has_times"),
    check_retention=Named("heatmaps.sources.check_retention"),
    advance=Named("heatmaps.ingest.versions.surveys.advance_by"),
    next_version=Named("heatmaps.ingest.versions.surveys.ask"),
    check_restored=Named("heatmaps.ingest.restorations.check_read_again"),
    data_context=Named("heatmaps.views.dataset.data.lake_context"),
    appear=Named("heatmaps.ingest.versions.surveys.appear"),
)
