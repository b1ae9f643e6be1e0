"""Shows the list of a dataset's releases."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.people.permissions import dataset_for
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release_line import lines_for


@require_safe
def releases_tab(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    kinds = queries.kinds_of(dataset)
    kind = next((kind.name for kind in kinds if kind.name == request.GET.get("kind")), None)
    releases = page_of(request, queries.releases_of(dataset, kind=kind), "releases")
    context = {
        "section": "datasets",
        "dataset": dataset,
        "releases": releases,
        "lines": lines_for(request.user, releases.object_list),
        "kinds": kinds if len(kinds) > 1 else [],
        "kind": kind,
    }
    return render(request, "dataset/releases.html", context)
