"""Serves a ledger as a file."""

from datetime import UTC, datetime
from typing import Final

from django.http import Http404, StreamingHttpResponse

from heatmaps.ledger import export
from heatmaps.ledger.reading import events_for
from heatmaps.models import Dataset

CONTENT_TYPES: Final = {"json": "application/json", "csv": "text/csv; charset=utf-8"}


def file_of(dataset: Dataset, suffix: str, *, sees_data: bool) -> StreamingHttpResponse:
    """Makes the file. Errors: Http404 unless `suffix` is one of `CONTENT_TYPES`."""
    if suffix not in CONTENT_TYPES:
        raise Http404(f"a ledger's files are {', '.join(CONTENT_TYPES)}")
    lines = {"json": export.json_lines, "csv": export.csv_lines}[suffix]
    events = events_for(dataset)
    name = f"ledger-{dataset.slug}-{datetime.now(UTC):%Y-%m-%d}.{suffix}"
    return StreamingHttpResponse(
        lines(events, sees_data=sees_data),
        content_type=CONTENT_TYPES[suffix],
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )
