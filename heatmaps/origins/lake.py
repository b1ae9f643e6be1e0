"""Check-ins that stay in their owner's lake: Spark sums them there."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet

from heatmaps.origins.origin import Named, Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake(Origin):
    """How long a draw takes does not depend on what is stored here."""

    def slot_seconds(self, dataset: Any) -> float:  # noqa: ARG002 - the same for all
        seconds: float = settings.SOURCE_SLOT_SECONDS
        return seconds

    def has_place(self, dataset: Any, drawn: "QuerySet[Any]") -> bool:  # noqa: ARG002 - the same for all
        places: int = settings.SOURCE_PLACES
        return drawn.count() < places

    def reader(self) -> str:
        return "lake"


LAKE: Final = Lake(
    filter=Q(is_collection=False) & ~Q(source=""),
    task="heatmaps.source_release",
    data_page="datasets/lake.html",
    first_data="version",
    first_step="Make a version",
    joins="of",
    restored_opt_outs="in the table that the dataset reads",
    is_elsewhere=True,
    reads_before_election=True,
    may_be_read=Named("heatmaps.sources.may_be_read"),
    can_be_read=Named("heatmaps.sources.can_be_read"),
    has_times=Named("heatmaps.sources.has_times"),
    appear=Named("heatmaps.ingest.versions.surveys.appear"),
)
