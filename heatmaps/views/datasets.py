"""The list of datasets and the page of one."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from heatmaps import queries
from heatmaps.access import Act, dataset_for, may, may_create_datasets
from heatmaps.ingest import uploads
from heatmaps.models import Dataset
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.guarantee import RELATIONS, metres
from heatmaps.wording.release import for_dataset
from mechanisms.guarantee import Relation


@require_safe
def datasets(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "datasets",
        "lines": queries.datasets_of(request.user),
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
        "total": for_dataset(found),
        "releases": page_of(request, queries.releases_of(found), "releases"),
        "versions": page_of(request, queries.versions_of(found), "versions"),
        "may_release": may(request.user, found, Act.RELEASE),
        "may_upload": may(request.user, found, Act.UPLOAD),
        "may_read_ledger": may(request.user, found, Act.READ_LEDGER),
        "may_change_limits": may(request.user, found, Act.CHANGE_LIMIT),
    }
    if may(request.user, found, Act.SEE_DATA):
        context["uploads"] = queries.uploads_of(found)
        context["waiting"] = queries.has_waiting_uploads(found)
        context["most_rejected"] = f"{float(100 * settings.MAX_REJECTED_SHARE):g}"
        context["opt_outs"] = queries.waiting_opt_outs(found)
    return render(request, "datasets/detail.html", context)


@require_POST
def new_version(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.UPLOAD)
    version = uploads.advance(request.user, found)
    messages.success(request, f"Version {version.number} is there: releases from now on read it.")
    return redirect("dataset", slug=found.slug)


def _size(found: Dataset) -> str:
    region = queries.region_of(found)
    return f"{metres(region.width_m)} × {metres(region.height_m)}"
