"""Shows and receives uploads, which are private data, for stewards only."""

from typing import Any, BinaryIO, cast
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from heatmaps import queries
from heatmaps.children.turns import turn
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.ingest import uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.child_process import preview
from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.ingest.options import Options
from heatmaps.ingest.receiving import MOST_FILES, Receipt
from heatmaps.ingest.upload_files import shown_name
from heatmaps.masses import column_copies
from heatmaps.masses.column_copies import NotGivenUp
from heatmaps.models import Dataset, Upload
from heatmaps.numbers import size
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.pseudonyms import keys
from heatmaps.pseudonyms.keys import KeyFileError
from heatmaps.views.requests import PersonRequest, wants_json
from mechanisms.check import ParameterError

PREVIEW_BYTES = 8 * 2**20  # as in preview.js
_OPTIONS = ("columns", "time_zone", "max_rejected")
_FORM_BYTES = 64 * 1024  # what a form takes beside its file


@csrf_exempt  # checked in `_receive`: reading the token reads the body, and that waits until it is welcome
@require_POST
@takes_up_to(lambda: settings.MAX_UPLOAD_BYTES + _FORM_BYTES)
def new_upload(request: PersonRequest, slug: str) -> HttpResponse:
    """Refuses strangers and files that are too large before a byte of the body is read."""
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    if body_length(request) > settings.MAX_UPLOAD_BYTES + _FORM_BYTES:
        return _too_large(request)
    try:
        uploads.check_takes_uploads(dataset)
    except UploadError as refusal:
        return _refusal(request, dataset, str(refusal), status=409)
    return _receive(request, dataset)


@csrf_exempt  # as above, in `_preview_json`
@never_cache
@require_POST
@takes_up_to(lambda: PREVIEW_BYTES + _FORM_BYTES)
def preview_upload(request: PersonRequest, slug: str) -> HttpResponse:
    """Reads the columns and first rows of (the beginning of) a file; nothing is stored."""
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    if body_length(request) > PREVIEW_BYTES + _FORM_BYTES:
        return JsonResponse({"error": "a preview takes the beginning of a file"}, status=413)
    try:
        uploads.check_takes_uploads(dataset)
    except UploadError as refusal:
        return JsonResponse({"error": str(refusal)}, status=409)
    try:
        keys.load(dataset)  # so that nobody waits for a large file to be refused
    except KeyFileError as refusal:
        return JsonResponse({"error": str(refusal)}, status=422)
    return _preview_json(request)


@require_POST
def undo(request: PersonRequest, upload_id: UUID) -> HttpResponse:
    row = queries.upload_for(request.user, upload_id)
    try:
        uploads.undo(request.user, row)
    except UploadError as refusal:
        messages.error(request, f"Nothing was undone: {refusal}.")
    else:
        messages.success(request, f"The upload of {row.file_name} is undone; its rows are being deleted.")
    return redirect("dataset-data", slug=row.dataset.slug)


@require_POST
def copy_again(request: PersonRequest, upload_id: UUID) -> HttpResponse:
    """Tries the copy in columns again, which was given up."""
    row = queries.upload_for(request.user, upload_id)
    try:
        column_copies.try_again(request.user, row)
    except NotGivenUp as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    else:
        messages.success(request, f"The server tries the copy of {row.file_name} again.")
    return redirect("dataset-data", slug=row.dataset.slug)


@never_cache
@require_safe
def upload(request: PersonRequest, upload_id: UUID) -> JsonResponse:
    """Tells how far an upload is, for the script of the dataset's page."""
    return JsonResponse(_progress(queries.upload_for(request.user, upload_id)))


@require_safe
def rejected_rows(request: PersonRequest, upload_id: UUID) -> FileResponse:
    rows = uploads.rejected_rows(queries.upload_for(request.user, upload_id))
    if rows is None:
        raise Http404("this upload has no rejected rows, or their list is older than 7 days")
    return FileResponse(rows, as_attachment=True, filename=f"rejected-rows-{upload_id}.csv")


@csrf_protect
def _receive(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    files = [file for file in request.FILES.getlist("file") if isinstance(file, UploadedFile)]
    if not 1 <= len(files) <= MOST_FILES:
        return _refusal(
            request, dataset, f"choose 1 to {MOST_FILES} files" if files else "choose a file first"
        )
    try:
        outcomes = uploads.receive_all(
            request.user,
            dataset,
            [(file, file.name or "") for file in files],
            advance=bool(request.POST.get("advance")),
            options=Options.parse(**{name: request.POST.get(name, "") for name in _OPTIONS}),
        )
    except (UploadError, KeyFileError, ParameterError) as refusal:
        return _refusal(request, dataset, str(refusal))
    if wants_json(request):
        return _outcomes_json(files, outcomes)
    for file, outcome in zip(files, outcomes, strict=True):
        if isinstance(outcome, Upload):
            messages.success(request, f"{outcome.file_name} is here and is being read.")
        else:
            messages.error(request, f"{shown_name(file.name or '')} was refused: {outcome}.")
    return redirect("dataset-data", slug=dataset.slug)


def _outcomes_json(files: "list[UploadedFile[Any]]", outcomes: list[Receipt]) -> JsonResponse:
    """Returns, for each file in their order, what `_progress` says of its upload, or its name and an
    error."""
    lines = [
        _progress(outcome)
        if isinstance(outcome, Upload)
        else {"name": shown_name(file.name or ""), "error": str(outcome)}
        for file, outcome in zip(files, outcomes, strict=True)
    ]
    is_any_here = any(isinstance(outcome, Upload) for outcome in outcomes)
    return JsonResponse({"files": lines}, status=201 if is_any_here else 422)


@csrf_protect
def _preview_json(request: HttpRequest) -> JsonResponse:
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or file.file is None:
        return JsonResponse({"error": "choose a file first"}, status=422)
    try:
        with turn():
            beginning = preview(cast(BinaryIO, file.file), whole=not request.POST.get("partial"))
    except ReaderError as refusal:
        return JsonResponse({"error": str(refusal)}, status=422)
    return JsonResponse({"columns": beginning.columns, "guess": beginning.guess, "rows": beginning.rows})


def _refusal(request: HttpRequest, dataset: Dataset, reason: str, *, status: int = 422) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": reason}, status=status)
    messages.error(request, f"The upload was refused: {reason}.")
    return redirect("dataset-data", slug=dataset.slug)


def _too_large(request: HttpRequest) -> HttpResponse:
    context = {"most": size(settings.MAX_UPLOAD_BYTES)}
    if wants_json(request):
        error = f"the file is larger than {context['most']}; compress it with gzip or split it"
        return JsonResponse({"error": error}, status=413)
    return render(request, "413.html", context, status=413)


def _progress(row: Upload) -> dict[str, Any]:
    line = queries.upload_line(row)
    return {
        "url": reverse("upload", args=[row.pk]),
        "name": row.file_name,
        "state": row.state,
        "label": row.get_state_display(),
        "percent": line.percent,
        "active": line.active,
        "accepted": row.rows_accepted,
        "rejected": row.rows_rejected,
        "outside": row.rows_outside,
        "failure": row.failure,
    }
