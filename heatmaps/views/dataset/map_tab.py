"""Shows a dataset's newest map."""

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts
from heatmaps.exports.outline import outline
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.regions import region_of
from heatmaps.releases.comparison import is_comparable
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release_line import lines_for

OTHER_MAPS: Final = 6  # thumbnails beside the newest map


@require_safe
def map_tab(request: PersonRequest, slug: str) -> HttpResponse:
    """Shows the newest published map, or the next step towards the first one."""
    dataset = dataset_for(request.user, slug)
    lines = lines_for(request.user, queries.published_of(dataset)[: OTHER_MAPS + 1])
    newest = lines[0] if lines else None
    context = {
        "section": "datasets",
        "dataset": dataset,
        "newest": newest,
        "comparable": newest is not None and is_comparable(newest.release),
        "other_lines": lines[1:],
        "outline": outline(region_of(dataset)) if newest is None else None,
        "alerts": alerts.alerts_of(dataset, request.user),
        "has_version": queries.current_version(dataset) is not None,
        "may_upload": may(request.user, dataset, Act.UPLOAD),
        "may_release": may(request.user, dataset, Act.RELEASE),
    }
    return render(request, "dataset/map.html", context)
