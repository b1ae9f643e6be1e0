"""The list of datasets and the page of one."""

from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from heatmaps import alerts, queries, retention
from heatmaps.access import Act, dataset_for, may, may_create_datasets
from heatmaps.ingest import optouts
from heatmaps.ingest.receiving import MOST_FILES
from heatmaps.models import Dataset, UploadState
from heatmaps.schedules import Schedule
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.guarantee import RELATIONS, metres
from heatmaps.wording.release import for_dataset
from mechanisms.guarantee import Relation

MOST_FOUND: Final = 100  # uploads shown of a search


@require_safe
def datasets(request: PersonRequest) -> HttpResponse:
    search = request.GET.get("search", "").replace("\0", "")[: queries.LONGEST_SEARCH]
    page = page_of(request, queries.datasets_of(request.user, search), "page")
    context = {
        "section": "datasets",
        "page": page,
        "lines": queries.dataset_lines(request.user, list(page.object_list)),
        "search": search,
        "query": urlencode({"search": search}) if search else "",
        "may_create": may_create_datasets(request.user),
    }
    return render(request, "datasets/list.html", context)


@require_safe
def dataset(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug)
    context = {
        "section": "datasets",
        "dataset": found,
        "region": queries.region_of(found),
        "size": _size(found),
        "persons": f"{found.public_persons:,}" if found.public_persons else "",
        "relation_sentence": RELATIONS[Relation(found.relation)],
        "budget": queries.budget(found),
        "alerts": alerts.alerts_of(found, request.user),
        "total": for_dataset(found),
        "releases": page_of(request, queries.releases_of(found), "releases"),
        "schedule": Schedule.parse(found.schedule),
        "next_due": found.next_version_at,
        "kept_for": retention.words(found.retention_days),
        "versions": page_of(request, queries.versions_of(found), "versions"),
        "may_release": may(request.user, found, Act.RELEASE),
        "may_upload": may(request.user, found, Act.UPLOAD),
        "may_read_ledger": may(request.user, found, Act.READ_LEDGER),
        "may_change_limits": may(request.user, found, Act.CHANGE_LIMIT),
    }
    if may(request.user, found, Act.SEE_DATA):
        context |= _of_data(request, found)
    return render(request, "datasets/detail.html", context)


@require_POST
def find_uploads(request: PersonRequest, slug: str) -> HttpResponse:
    """Uploads by a part of their file name; by POST, since names of files are nothing for addresses."""
    found = dataset_for(request.user, slug, Act.SEE_DATA)
    name = request.POST.get("name", "").replace("\0", "").strip()[: queries.LONGEST_SEARCH]
    rows = queries.uploads_of(found, name=name)
    context = {
        "section": "datasets",
        "dataset": found,
        "name": name,
        "total": rows.count(),
        "most": MOST_FOUND,
        "uploads": list(map(queries.upload_line, rows[:MOST_FOUND])),
        "next_due": found.next_version_at,
    }
    return render(request, "datasets/uploads.html", context)


def _of_data(request: PersonRequest, found: Dataset) -> dict[str, object]:
    """What only stewards see."""
    state = request.GET.get("state", "")
    state = state if state in UploadState.values else ""
    page = page_of(request, queries.uploads_of(found, state=state), "uploads")
    return {
        "upload_page": page,
        "uploads": list(map(queries.upload_line, page.object_list)),
        "upload_states": UploadState.choices,
        "upload_state": state,
        "upload_query": f"state={state}" if state else "",
        "waiting": queries.has_waiting_uploads(found),
        "most_rejected": f"{float(100 * settings.MAX_REJECTED_SHARE):g}",
        "most_files": MOST_FILES,
        "opt_outs": queries.waiting_opt_outs(found),
        "entries": page_of(request, optouts.entries(request.user, found), "entries"),
    }


def _size(found: Dataset) -> str:
    region = queries.region_of(found)
    return f"{metres(region.width_m)} × {metres(region.height_m)}"
