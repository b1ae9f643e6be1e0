"""Answers with a part of a file that a request names (RFC 9110, section 14)."""

import os
import re
from typing import BinaryIO, Final

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from heatmaps.pmtiles import version_of

MOST_BYTES: Final = 4 * 2**20  # of one answer; who wants more asks for the rest
_RANGE: Final = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII)

Span = tuple[int, int]  # first byte, and the one after the last


def answer(request: HttpRequest, file: BinaryIO, *, content_type: str, cache: str) -> HttpResponseBase:
    """The part, the whole file, or 304 for whoever has it; closes the file, now or when it is sent.

    Several ranges, or those of another version (`If-Range`), are answered with the whole file.
    """
    about = os.fstat(file.fileno())
    etag, size = f'"{version_of(about)}"', about.st_size
    head = HttpResponse(content_type=content_type)
    head["ETag"], head["Accept-Ranges"], head["Cache-Control"] = etag, "bytes", cache
    settled = get_conditional_response(request, etag=etag, response=head)
    span = _span(request, etag, size)
    if settled is not None and settled is not head:
        result: HttpResponseBase = settled
    elif request.method == "HEAD":
        head["Content-Length"] = str(size)
        result = head
    elif span is None:
        return _with_headers(FileResponse(file, content_type=content_type), head)
    elif span[0] >= span[1]:
        result = _with_headers(HttpResponse(status=416), head)
        result["Content-Range"] = f"bytes */{size}"
    else:
        content = os.pread(file.fileno(), span[1] - span[0], span[0])
        result = _with_headers(HttpResponse(content, status=206, content_type=content_type), head)
        result["Content-Range"] = f"bytes {span[0]}-{span[0] + len(content) - 1}/{size}"
    file.close()
    return result


def _span(request: HttpRequest, etag: str, size: int) -> Span | None:
    """None where not one range of this version is asked for; empty where the file has none of it."""
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if asked is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last, final = asked.groups()
    if final is not None:
        begin, end = max(size - int(final), 0), size
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < int(first):
            return None  # no valid range: as if none was sent
    return begin, min(end, begin + MOST_BYTES)


def _with_headers(answer: HttpResponseBase, head: HttpResponse) -> HttpResponseBase:
    for name in ("ETag", "Accept-Ranges", "Cache-Control"):
        answer[name] = head[name]
    return answer
