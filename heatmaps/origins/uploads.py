"""Stores the check-ins that stewards upload."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet

from heatmaps.origins.origin import Named, Origin
from heatmaps.origins.pages import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploads(Origin):
    """Draws take as long as a dataset's size class says."""

    def slot_seconds(self, dataset: Any) -> float:
        seconds: float = settings.SLOT_SECONDS[dataset.row_capacity]
        return seconds

    def has_place(self, dataset: Any, spent: "QuerySet[Any]") -> bool:
        same_size = spent.filter(dataset__row_capacity=dataset.row_capacity)
        places: int = settings.DRAW_PLACES[dataset.row_capacity]
        return same_size.count() < places

    def reader(self) -> str:
        return connection.vendor


UPLOADS: Final = Uploads(
    name="files",
    filter=Q(is_collection=False, source=""),
    words=Words(choice="From files"),
    scripts=("hazemap/uploads.js", "hazemap/preview.js"),
    renew_restored=Named("heatmaps.ingest.restorations.renew_version"),
    # Schedules and surveys of all datasets are swept with uploads.
    sweeps=(Named("heatmaps.ingest.uploads.sweep"), Named("heatmaps.masses.column_copies.sweep")),
)
