"""Keeps a dataset's guide files: public maps from elsewhere, from which its maps may start."""

from pathlib import Path
from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from heatmaps.guides import files, raster
from heatmaps.http.content_length import takes_up_to
from heatmaps.people.permissions import Act, dataset_for, may, require
from heatmaps.views.forms.guides import GuideFileForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted

_FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file


@require_http_methods(["GET", "HEAD", "POST"])
@takes_up_to(lambda: raster.MOST_BYTES + _FORM_BYTES)
def guides(request: PersonRequest, slug: str) -> HttpResponse:
    """GET lists the files for all members, POST stores another one for stewards."""
    found = dataset_for(request.user, slug)
    if request.method == "POST":
        require(request.user, found, Act.KEEP_GUIDES)
    form = GuideFileForm(request.POST, request.FILES) if request.method == "POST" else GuideFileForm()

    def store() -> None:
        path = Path(form.cleaned_data["file"].temporary_file_path())
        files.store(request.user, found, path, form.facts())

    if submitted(request, form, store):
        messages.success(request, f"{form.cleaned_data['title']} is stored.")
        return redirect("guides", slug=found.slug)
    may_keep = may(request.user, found, Act.KEEP_GUIDES)
    context = {
        "section": "datasets",
        "dataset": found,
        "files": files.files_of(found),
        "may_keep": may_keep,
        "is_in_time": may_keep and files.may_store(found),  # whether there was an upload is for stewards
        "form": form,
    }
    return render(request, "guides/list.html", context, status=422 if form.errors else 200)
