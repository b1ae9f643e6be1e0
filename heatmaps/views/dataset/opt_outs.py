"""Shows and changes opt-outs, which are private data, for stewards only."""

from typing import BinaryIO, cast
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from heatmaps.ingest import opt_outs
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.people.permissions import Act, dataset_for
from heatmaps.pseudonyms.keys import KeyFileError
from heatmaps.views.requests import PersonRequest


@require_POST
def opt_out(request: PersonRequest, slug: str) -> HttpResponse:
    """Leaves out users from the text box, one a line, and from a file, or with `back` counts them again."""
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    act = opt_outs.take_back if "back" in request.POST else opt_outs.opt_out
    try:
        act(request.user, dataset, _users(request))
    except (UploadError, ReaderError, KeyFileError) as refusal:
        nobody = "Nothing was taken back" if "back" in request.POST else "Nobody was opted out"
        messages.error(request, f"{nobody}: {refusal}.")
    else:
        verb = "count them again where they were left out" if "back" in request.POST else "leave them out"
        messages.success(request, f"Saved: from the next data version on, releases {verb}.")
    return redirect("dataset-data", slug=dataset.slug)


@require_POST
def take_back(request: PersonRequest, slug: str, entry: UUID) -> HttpResponse:
    """Takes one entry of the list back, which names nobody."""
    dataset = dataset_for(request.user, slug, Act.UPLOAD)
    opt_outs.take_back_entry(request.user, dataset, entry)
    messages.success(request, "Saved: from the next data version on, releases count this person again.")
    return redirect("dataset-data", slug=dataset.slug)


def _users(request: PersonRequest) -> list[str]:
    typed = request.POST.get("users", "").splitlines()
    file = request.FILES.get("file")
    listed = (
        opt_outs.users_of(cast(BinaryIO, file.file)) if isinstance(file, UploadedFile) and file.file else []
    )
    return [*typed, *listed]
