"""Keeps a dataset's guide files: public maps from elsewhere, from which its maps may start."""

from pathlib import Path
from typing import Final, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from heatmaps.guides import files, raster
from heatmaps.http import attempt_limits
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.http.rate_limits import come_again
from heatmaps.models import Dataset
from heatmaps.numbers import size
from heatmaps.people.permissions import Act, dataset_for, may, require
from heatmaps.views.dataset.forms.guides import GuideFileForm
from heatmaps.views.requests import PersonRequest
from heatmaps.views.submissions import submitted
from heatmaps.wording.guides import file_promise

_FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file


@csrf_exempt  # checked in `_answer`: reading the token reads the body, and that waits until it is welcome
@require_http_methods(["GET", "HEAD", "POST"])
@takes_up_to(lambda: raster.MOST_BYTES + _FORM_BYTES)
def guides(request: PersonRequest, slug: str) -> HttpResponseBase:
    """Lists the files for all members on GET, and stores another one for stewards on POST."""
    dataset = dataset_for(request.user, slug)
    if request.method == "POST":
        require(request.user, dataset, Act.KEEP_GUIDES)
        if body_length(request) > raster.MOST_BYTES + _FORM_BYTES:
            context = {"most": size(raster.MOST_BYTES), "is_map": True}
            return render(request, "413.html", context, status=413)
        if wait := attempt_limits.wait_of(attempt_limits.GUIDES, request.user.pk):
            return come_again(request, wait, files=True)
    return _answer(request, dataset)


@csrf_protect
def _answer(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    person = cast(PersonRequest, request).user
    if request.method == "POST" and (wait := attempt_limits.guide(person.pk)):
        return come_again(request, wait, files=True)
    form = GuideFileForm(request.POST, request.FILES) if request.method == "POST" else GuideFileForm()

    def store() -> None:
        path = Path(form.cleaned_data["file"].temporary_file_path())
        files.store(person, dataset, path, form.facts())

    if submitted(request, form, store):
        messages.success(request, f"{form.cleaned_data['title']} is stored.")
        return redirect("guides", slug=dataset.slug)
    may_keep = may(person, dataset, Act.KEEP_GUIDES)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "files": [(file, file_promise(file)) for file in files.files_of(dataset)],
        "may_keep": may_keep,
        "is_in_time": may_keep and files.may_store(dataset),  # whether there was an upload is for stewards
        "form": form,
    }
    return render(request, "dataset/guides/list.html", context, status=422 if form.errors else 200)
