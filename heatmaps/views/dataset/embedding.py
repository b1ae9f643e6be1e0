"""Shows a public map in a page of another website, and lets stewards say in which.

The page for other websites knows nobody: no cookie reaches it (`heatmaps.front.cookies`), its bytes are the
same for everybody, and it has no form, which its policy forbids, too.
"""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from csp.constants import NONE, SELF
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_http_methods, require_safe

from heatmaps.exports import release_files
from heatmaps.exports.html import digest
from heatmaps.http import caching
from heatmaps.http.rate_limits import limited_addresses
from heatmaps.maps.document import frame
from heatmaps.maps.streets import streets_of
from heatmaps.people import embedding as rule
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.releases import publication
from heatmaps.views.basemap import allow_tiles
from heatmaps.views.dataset.forms.embedding import EmbeddingForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted
from heatmaps.wording import release as wording
from heatmaps.wording.collection import title_of
from heatmaps.wording.release_line import release_line


@require_http_methods(["GET", "HEAD", "POST"])
def embedding(request: PersonRequest, slug: str) -> HttpResponse:
    """Sets the websites that may embed a dataset's public maps."""
    dataset = dataset_for(request.user, slug, Act.PUBLISH)
    form = EmbeddingForm(request.POST or None, initial={"embed_origins": "\n".join(dataset.embed_origins)})

    def change() -> None:
        typed = form.cleaned_data
        rule.change(request.user, dataset, typed["embed_origins"], reason=typed["reason"])

    if submitted(request, form, change):
        messages.success(request, "Saved: these websites, and no others, may embed public maps.")
        return redirect("dataset-data", slug=dataset.slug)
    context = {"section": "datasets", "dataset": dataset, "form": form}
    return render(request, "dataset/embedding.html", context, status=422 if form.errors else 200)


@login_not_required
@limited_addresses
@require_safe
def embed(request: HttpRequest, release_id: UUID) -> HttpResponseBase:
    """Serves a public map with its title, legend and promise, for a frame in a page of another website."""
    release = publication.public_release(release_id)
    origins = rule.origins_of(release.dataset)
    parts = release_files.parts_of(release)
    style = render_to_string("maps/legend_colours.css", {"map": parts})
    streets = streets_of(public=True)
    page = {
        "map": parts,
        "frame": frame(),
        "streets": streets,
        "style": style,
        "release": release,
        "line": release_line(release),
        "title": f"{release.dataset.title}, {title_of(release)}",
        "promise": wording.promise_of(release),
    }
    whole = HttpResponse(render_to_string("maps/embed.html", page))
    # Of the websites, too: browsers keep the policy of a copy that is merely found unchanged.
    whole["ETag"] = f'"{hashlib.sha256(" ".join(origins).encode() + whole.content).hexdigest()}"'
    whole["Cache-Control"] = caching.SHARED
    answer = get_conditional_response(request, etag=whole["ETag"], response=whole) or whole
    _guard(answer, origins, style=style)
    return allow_tiles(answer, streets)


def _guard(answer: HttpResponseBase, origins: Sequence[str], *, style: str) -> None:
    """Lets these websites alone frame it."""
    vars(answer)["_csp_replace"] = {  # as django-csp's decorators do
        "script-src": [SELF],
        # By its digest: a nonce would make every answer another one.
        "style-src": [SELF, f"'{digest(style, 'style')}'"],
        "frame-src": [NONE],
        "form-action": [NONE],
        "frame-ancestors": [*origins] or [NONE],
    }
    # `X-Frame-Options` knows no list: it forbids what the policy forbids, or is not sent.
    if origins:
        vars(answer)["xframe_options_exempt"] = True  # as Django's decorator does
    else:
        answer["X-Frame-Options"] = "DENY"
