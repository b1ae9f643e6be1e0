"""Sets cache headers of releases: copies are revalidated each time, so hidden ones disappear."""

from typing import Final

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import content_disposition_header

from heatmaps.exports.release_files import Download
from heatmaps.http import byte_ranges
from heatmaps.models import Release
from heatmaps.people.permissions import Person
from heatmaps.releases.publication import is_outsider

SHARED: Final = "public, no-cache"
OWN: Final = "private, no-cache"


def mark(answer: HttpResponseBase, person: Person, release: Release, *, by: str) -> None:
    """Caches may share what anybody may read. by: the header that says who asks."""
    answer["Cache-Control"] = SHARED if is_outsider(person, release) else OWN
    patch_vary_headers(answer, [by])


def answer(request: HttpRequest, person: Person, file: Download, *, by: str) -> HttpResponseBase:
    """Answers with the file, or 304 for whoever has it; neither for that nor for HEAD is anything made.

    Of a file that programs read in parts, the part that is asked for.

    by: as for `mark`. Errors: Busy, NotRendered.
    """
    head = HttpResponse(content_type=file.content_type)
    head["ETag"] = file.etag
    head["Content-Disposition"] = content_disposition_header(True, file.name)
    mark(head, person, file.release, by=by)
    if file.in_parts:  # also for HEAD: programs ask for its length before they ask for parts
        return byte_ranges.part(request, head, file.open)
    unchanged = get_conditional_response(request, etag=file.etag, response=head)
    if unchanged is not None and unchanged is not head:
        return unchanged
    if request.method == "HEAD":
        if (size := file.size_bytes) is not None:
            head["Content-Length"] = str(size)
        return head
    whole = FileResponse(file.open())
    for name, value in head.items():
        whole[name] = value
    return whole
