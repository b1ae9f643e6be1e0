"""Opt-outs: who asks for it is data, so the view is for stewards only."""

from typing import BinaryIO, cast
from uuid import UUID

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
    """Users from the text box, one a line, and from a file: left out, or with `back` counted again."""
    found = dataset_for(request.user, slug, Act.UPLOAD)
    act = optouts.take_back if "back" in request.POST else optouts.opt_out
    try:
        act(request.user, found, _users(request))
    except (UploadError, ReaderError, KeyFileError) as refusal:
        nobody = "Nothing was taken back" if "back" in request.POST else "Nobody was opted out"
        messages.error(request, f"{nobody}: {refusal}.")
    else:
        verb = "count them again where they were left out" if "back" in request.POST else "leave them out"
        messages.success(request, f"Noted: from the next data version on, releases {verb}.")
    return redirect("dataset", slug=found.slug)


@require_POST
def take_back(request: PersonRequest, slug: str, entry: UUID) -> HttpResponse:
    """One entry of the list, which names nobody."""
    found = dataset_for(request.user, slug, Act.UPLOAD)
    optouts.take_back_entry(request.user, found, entry)
    messages.success(request, "Noted: from the next data version on, releases count this person again.")
    return redirect("dataset", slug=found.slug)


def _users(request: PersonRequest) -> list[str]:
    typed = request.POST.get("users", "").splitlines()
    file = request.FILES.get("file")
    listed = (
        optouts.users_of(cast(BinaryIO, file.file)) if isinstance(file, UploadedFile) and file.file else []
    )
    return [*typed, *listed]
