"""Blurs a steward's own file row by row; stewards see true places anyway."""

from typing import BinaryIO, cast

from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from heatmaps.blurring import download
from heatmaps.http import attempt_limits
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.http.rate_limits import come_again
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Dataset
from heatmaps.numbers import size
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.views.dataset.forms.blur import BlurForm
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError

_FORM_BYTES = 64 * 1024  # what a form takes beside its file


@csrf_exempt  # checked in `_answer`: reading the token reads the body, and that waits until it is welcome
@require_http_methods(["GET", "HEAD", "POST"])
@takes_up_to(lambda: download.MOST_BYTES + _FORM_BYTES)
def blur(request: PersonRequest, slug: str) -> HttpResponseBase:
    """Shows the form on GET, answers POST with the blurred rows and their statement; nothing is stored."""
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    if request.method == "POST":
        if body_length(request) > download.MOST_BYTES + _FORM_BYTES:
            most = size(download.MOST_BYTES)
            return render(request, "413.html", {"most": most}, status=413)
        if wait := attempt_limits.wait_of(attempt_limits.BLUR, request.user.pk):
            return come_again(request, wait, files=True)
    return _answer(request, dataset)


@csrf_protect
def _answer(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    person = cast(PersonRequest, request).user
    is_sent = request.method == "POST"
    if is_sent and (wait := attempt_limits.blur(person.pk)):
        return come_again(request, wait, files=True)
    form = BlurForm(dataset, *([request.POST, request.FILES] if is_sent else []))
    if is_sent and form.is_valid():
        try:
            file = cast(BinaryIO, form.cleaned_data["file"].file)
            archive = download.blurred(person, dataset, form.question(), file)
        except ParameterError as error:
            form.explain(error)
        except UploadError as error:
            form.add_error("file", f"Nothing was blurred: {error}.")
        else:
            answer = FileResponse(archive, as_attachment=True, filename=f"{dataset.slug}-blurred.zip")
            add_never_cache_headers(answer)
            return answer
    context = {
        "section": "datasets",
        "dataset": dataset,
        "form": form,
        **_at_best(dataset, form),
    }
    return render(request, "dataset/blur.html", context, status=422 if form.errors else 200)


def _at_best(dataset: Dataset, form: BlurForm) -> dict[str, object]:
    """Returns the context beside the fields as they are; nothing while they make no sense."""
    question = form.as_it_stands()
    try:
        return {"question": question, "no_better": download.no_better(dataset, question)}
    except ParameterError:
        return {}
