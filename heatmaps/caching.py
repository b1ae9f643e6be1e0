"""What caches may keep of a release: a copy to be asked about each time, so that what is hidden is gone."""

import hashlib
from typing import BinaryIO, Final

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

from heatmaps.access import Person
from heatmaps.models import Release
from heatmaps.publication import is_outsider

SHARED: Final = "public, no-cache"
OWN: Final = "private, no-cache"
_CHUNK_BYTES: Final = 1 << 20


def mark(answer: HttpResponseBase, person: Person, release: Release, *, by: str) -> None:
    """Caches may share what anybody may read. by: the header that says who asks."""
    answer["Cache-Control"] = SHARED if is_outsider(person, release) else OWN
    patch_vary_headers(answer, [by])


def unless_known(request: HttpRequest, answer: HttpResponseBase, stream: BinaryIO) -> HttpResponseBase:
    """The answer with the ETag of its file; 304 for whoever has the file already."""
    etag = f'"{_digest(stream)}"'
    answer["ETag"] = etag
    unchanged = get_conditional_response(request, etag=etag, response=answer)  # type: ignore[arg-type]
    if unchanged is None or unchanged is answer:
        return answer
    stream.close()  # not the answer: that would end the request, and its connection to the database
    return unchanged


def _digest(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(_CHUNK_BYTES):
        digest.update(chunk)
    stream.seek(0)
    return digest.hexdigest()
