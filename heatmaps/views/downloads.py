"""A published map as a file."""

from uuid import UUID

from django.http import FileResponse, Http404
from django.views.decorators.http import require_safe

from heatmaps import published
from heatmaps.views.releases import published_for
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@require_safe
def download(request: PersonRequest, release_id: UUID, suffix: str) -> FileResponse:
    """`suffix`: "npy", "csv"; "npy.zip", "csv.zip" with the release sheet; "json" for the sheet alone."""
    release = published_for(request, release_id)
    try:
        file = published.download(release, suffix)
    except ParameterError as error:
        raise Http404(str(error)) from error
    return FileResponse(file.stream, as_attachment=True, filename=file.name, content_type=file.content_type)
