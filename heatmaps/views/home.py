"""Shows home: a person's datasets, what waits and what just finished."""

from typing import Final

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from heatmaps.home import activity
from heatmaps.home.cards import cards_of
from heatmaps.models import Dataset, ReleaseState
from heatmaps.people.permissions import is_administrator, may_create_datasets, memberships
from heatmaps.views.releases.release import seconds_left
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release_line import release_line

MOST_CARDS: Final = 8


@require_safe
def home(request: PersonRequest) -> HttpResponse:
    datasets = Dataset.objects.filter(pk__in=memberships(request.user).values("dataset"))
    waiting = activity.waiting_for(request.user)
    context = {
        "section": "home",
        "cards": cards_of(request.user, list(_latest_first(datasets)[:MOST_CARDS])),
        "total": datasets.count(),
        "waiting": waiting,
        "queued": [
            (release_line(release, member=True), release, seconds_left(release)) for release in waiting.queued
        ],
        "finished": [release_line(release, member=True) for release in activity.finished_for(request.user)],
        "waits_for_operator": activity.waits_for_operator(request.user),
        "may_create": may_create_datasets(request.user),
    }
    if is_administrator(request.user):
        context["open_links"] = activity.open_links().count()
        context["others_have"] = Dataset.objects.exists()
    return render(request, "home.html", context)


def _latest_first(datasets: QuerySet[Dataset]) -> QuerySet[Dataset]:
    """Sorts by the newest release that everybody in it sees; without one, by when they were made."""
    is_visible = Q(releases__state=ReleaseState.PUBLISHED, releases__visible_at__lte=timezone.now())
    newest = Coalesce(Max("releases__visible_at", filter=is_visible), "created_at")
    return datasets.annotate(newest=newest).order_by("-newest", "title", "pk")
