"""Lists public maps, publishes and hides them, and sets their headers."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps import queries
from heatmaps.http import caching
from heatmaps.http.rate_limits import limited_visits
from heatmaps.models import Release
from heatmaps.people.permissions import Act, require
from heatmaps.releases import names, publication
from heatmaps.releases.names import Label, NameMoved
from heatmaps.releases.publication import PublicationRefused
from heatmaps.views.pages import CARDS, page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.guides import HIDDEN
from heatmaps.wording.release_line import line_for, release_line
from mechanisms.check import ParameterError


@login_not_required
@limited_visits
@require_safe
@cache_control(private=True, no_cache=True)
def public_maps(request: HttpRequest) -> HttpResponse:
    releases = page_of(request, publication.public_releases(), "page", size=CARDS)
    context = {"section": "public", "page": releases, "lines": list(map(release_line, releases))}
    return render(request, "releases/public_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def release_publication(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """Publishes or hides: GET asks once more; POST with `public=yes` shows the map to everybody, with
    `public=no` to members."""
    release = queries.release_for(request.user, release_id)
    require(request.user, release.dataset, Act.PUBLISH)
    context = {
        "section": "datasets",
        "release": release,
        "dataset": release.dataset,
        "line": line_for(request.user, release),
        "in_the_way": _in_the_way(request, release),
    }
    if request.method != "POST":
        return render(request, "releases/publication.html", context)
    choice = request.POST.get("public")
    if choice not in ("yes", "no"):
        return render(request, "releases/publication.html", context, status=422)
    try:
        _publish(request, release, public=choice == "yes")
    except (NameMoved, PublicationRefused, ParameterError) as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    else:
        sentence = (
            "Anyone can read this map now." if choice == "yes" else "Only members can read this map now."
        )
        messages.success(request, sentence)
    return redirect("release", release_id=release.pk)


def _in_the_way(request: PersonRequest, own: Release) -> list[tuple[str, str]]:
    """Returns (title, address) of what has to be shown or hidden first; no address for what is another
    dataset's."""
    rows = []
    for release in publication.in_the_way(own):
        is_own = release.dataset_id == own.dataset_id
        title = line_for(request.user, release).title if is_own else HIDDEN
        rows.append((title, reverse("release-publication", args=[release.pk]) if is_own else ""))
    return rows


@transaction.atomic
def _publish(request: PersonRequest, release: Release, *, public: bool) -> None:
    """Publishes or hides, with the name and note that the steward read and ticked, or without."""
    publication.set_public(request.user, release, public=public)
    if public and "show_name" in request.POST:
        read = Label(name=request.POST.get("name", ""), note=request.POST.get("note", ""))
        names.show(request.user, release, read)


def open_if_public(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Opens a page about releases without an account once all of them are public, and says so to caches."""

    @wraps(view)
    def wrapper(request: PersonRequest, release_id: UUID, *arguments: Any, **named: Any) -> HttpResponseBase:
        release_ids = {release_id, named.get("other_id", release_id)}  # a comparison is of two releases
        # The same answer for maps that are hidden and for those that do not exist.
        if not request.user.is_authenticated and not all(map(publication.is_public, release_ids)):
            return redirect_to_login(request.get_full_path())
        answer = view(request, release_id, *arguments, **named)
        # Also for anybody's: a page holds a nonce, and a member gets another one at the same address.
        answer.headers.setdefault("Cache-Control", caching.OWN)
        patch_vary_headers(answer, ["Cookie"])
        return answer

    return login_not_required(limited_visits(wrapper))
