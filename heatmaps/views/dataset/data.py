"""Shows a dataset's public facts, and to stewards its files."""

from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from heatmaps import queries
from heatmaps.districts.files import files_of
from heatmaps.guides import files as guides
from heatmaps.ingest import opt_outs
from heatmaps.ingest.receiving import MOST_FILES
from heatmaps.ingest.versions import retention
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger.transitions import slots
from heatmaps.models import Dataset, DataVersion, UploadState
from heatmaps.numbers import count, length, number
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.regions import region_of
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import lake

MOST_FOUND: Final = 100  # uploads shown of a search
_SHOWN: Final = ("reading", "opt-outs")  # parts of the page that come on demand


@require_safe
def data_tab(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    region = region_of(dataset)
    versions = page_of(request, queries.versions_of(dataset).select_related("source_state"), "versions")
    context = {
        "section": "datasets",
        "dataset": dataset,
        "size": f"{length(region.width_m)} × {length(region.height_m)}",
        "persons": count(dataset.public_persons) if dataset.public_persons else "",
        "schedule": Schedule.parse(dataset.schedule),
        "next_due": dataset.next_version_at,
        "kept_for": retention.words(dataset.retention_days),
        "versions": versions,
        "version_lines": [(version, "") for version in versions],
        "lake_trusted": lake.TRUSTED,
        "district_files": files_of(dataset),
        "may_keep_districts": may(request.user, dataset, Act.KEEP_DISTRICTS),
        "guide_files": guides.files_of(dataset),
        "may_upload": may(request.user, dataset, Act.UPLOAD),
    }
    if may(request.user, dataset, Act.SEE_DATA):
        context |= dataset.origin.data_context(request, dataset, versions)
    return render(request, "dataset/data.html", context)


@require_POST
def find_uploads(request: PersonRequest, slug: str) -> HttpResponse:
    """Finds uploads by a part of their file name; by POST, since names of files are nothing for addresses."""
    dataset = dataset_for(request.user, slug, Act.SEE_DATA)
    name = request.POST.get("name", "").replace("\0", "").strip()[: queries.LONGEST_SEARCH]
    rows = queries.uploads_of(dataset, name=name)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "name": name,
        "total": rows.count(),
        "most": MOST_FOUND,
        "uploads": list(map(queries.upload_line, rows[:MOST_FOUND])),
        "next_due": dataset.next_version_at,
    }
    return render(request, "dataset/uploads.html", context)


def lake_context(
    request: PersonRequest,  # noqa: ARG001 - every origin's data are shown by the same arguments
    dataset: Dataset,
    versions: Iterable[DataVersion],
) -> dict[str, object]:
    """Returns the part about a lake's table that only stewards see."""
    survey = queries.survey_of(dataset)
    return {
        "step": _step(dataset),
        "may_add_guides": guides.may_store(dataset),
        "survey": survey,
        "failure": "" if survey is None else lake.failure_words(survey.failure),
        "slot": slots.length(dataset).total_seconds(),
        "version_lines": [(version, _rows(version)) for version in versions],
    }


def _rows(version: DataVersion) -> str:
    state = getattr(version, "source_state", None)
    return "" if state is None else lake.rows_words(state.rows, state.invalid)


def files_context(
    request: PersonRequest,
    dataset: Dataset,
    versions: Iterable[DataVersion],  # noqa: ARG001 - as above
) -> dict[str, object]:
    """Returns the part about a dataset's files that only stewards see."""
    state = request.GET.get("state", "")
    state = state if state in UploadState.values else ""
    show = request.GET.get("show", "")
    page = page_of(request, queries.uploads_of(dataset, state=state), "uploads")
    return {
        "step": _step(dataset),
        "may_add_guides": guides.may_store(dataset),
        "show": show if show in _SHOWN else "",
        "upload_page": page,
        "uploads": list(map(queries.upload_line, page.object_list)),
        "upload_states": UploadState.choices,
        "upload_state": state,
        "upload_query": f"state={state}" if state else "",
        "waiting": queries.has_waiting_uploads(dataset),
        "most_rejected": number(100 * settings.MAX_REJECTED_SHARE),
        "most_files": MOST_FILES,
        "opt_outs": opt_outs.pending(dataset),
        "entries": page_of(request, opt_outs.entries(request.user, dataset), "entries"),
    }


def _step(dataset: Dataset) -> int | None:
    """Returns the step of the way to a first map: 2 until there are data, then 3; None once there is a
    map."""
    if queries.published_of(dataset).exists():
        return None
    return 2 if queries.current_version(dataset) is None else 3
