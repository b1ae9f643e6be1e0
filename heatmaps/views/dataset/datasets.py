"""Shows the list of datasets."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.home.cards import cards_of
from heatmaps.people.permissions import may_create_datasets
from heatmaps.views.pages import CARDS, page_of
from heatmaps.views.requests import PersonRequest


@require_safe
def datasets(request: PersonRequest) -> HttpResponse:
    search = request.GET.get("search", "").replace("\0", "")[: queries.LONGEST_SEARCH]
    page = page_of(request, queries.datasets_of(request.user, search), "page", size=CARDS)
    context = {
        "section": "datasets",
        "page": page,
        "cards": cards_of(request.user, list(page.object_list)),
        "search": search,
        "query": urlencode({"search": search}) if search else "",
        "may_create": may_create_datasets(request.user),
    }
    return render(request, "dataset/list.html", context)
