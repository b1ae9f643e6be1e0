"""Opt-outs: who asks for it is data, so the view is for stewards only."""

from typing import BinaryIO, cast

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from heatmaps.access import Act, dataset_for
from heatmaps.ingest import optouts
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.reader import ReaderError
from heatmaps.keys import KeyFileError
from heatmaps.views.requests import PersonRequest


@require_POST
def opt_out(request: PersonRequest, slug: str) -> HttpResponse:
    """Users from the text box, one a line, and from a file."""
    found = dataset_for(request.user, slug, Act.UPLOAD)
    try:
        optouts.opt_out(request.user, found, _users(request))
    except (UploadError, ReaderError, KeyFileError) as refusal:
        messages.error(request, f"Nobody was opted out: {refusal}.")
    else:
        messages.success(request, "Noted: from the next data version on, releases leave them out.")
    return redirect("dataset", slug=found.slug)


def _users(request: PersonRequest) -> list[str]:
    typed = request.POST.get("users", "").splitlines()
    file = request.FILES.get("file")
    listed = (
        optouts.users_of(cast(BinaryIO, file.file)) if isinstance(file, UploadedFile) and file.file else []
    )
    return [*typed, *listed]
