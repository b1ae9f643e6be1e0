"""Maps that anybody may read: their list, the act that shows one or hides it again, and their headers."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps import caching, publication, queries
from heatmaps.access import Act, require
from heatmaps.limited import limited_visits
from heatmaps.publication import NotPublished
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from mechanisms import catalogue


@login_not_required
@limited_visits
@require_safe
@cache_control(private=True, no_cache=True)
def public_maps(request: HttpRequest) -> HttpResponse:
    releases = page_of(request, publication.public_releases(), "page")
    lines = [(found, catalogue.get(found.mechanism).title) for found in releases]
    return render(
        request, "releases/public_list.html", {"section": "public", "page": releases, "lines": lines}
    )


@require_http_methods(["GET", "HEAD", "POST"])
def release_publication(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """GET asks once more; POST with `public=yes` shows the map to everybody, with `public=no` to members."""
    found = queries.release_for(request.user, release_id)
    require(request.user, found.dataset, Act.PUBLISH)
    context = {"section": "datasets", "release": found, "dataset": found.dataset}
    if request.method != "POST":
        return render(request, "releases/publication.html", context)
    wanted = request.POST.get("public")
    if wanted not in ("yes", "no"):
        return render(request, "releases/publication.html", context, status=422)
    try:
        publication.set_public(request.user, found, public=wanted == "yes")
    except NotPublished as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    else:
        said = "Anybody may read this map now." if wanted == "yes" else "Only members may read this map now."
        messages.success(request, said)
    return redirect("release", release_id=found.pk)


def open_if_public(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page about a release that needs no account once the release is public, and says so to caches."""

    @wraps(view)
    def opened(request: PersonRequest, release_id: UUID, *arguments: Any, **named: Any) -> HttpResponseBase:
        # The same answer for maps that are hidden and for those that do not exist.
        if not request.user.is_authenticated and not publication.is_public(release_id):
            return redirect_to_login(request.get_full_path())
        answer = view(request, release_id, *arguments, **named)
        # Also for anybody's: a page holds a nonce, and a member gets another one at the same address.
        answer.headers.setdefault("Cache-Control", caching.OWN)
        patch_vary_headers(answer, ["Cookie"])
        return answer

    return login_not_required(limited_visits(opened))
