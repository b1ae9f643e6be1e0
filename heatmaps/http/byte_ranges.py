"""Answers with a part of a file that a request names (RFC 9110, section 14)."""

import os
import re
from collections.abc import Callable
from typing import BinaryIO, Final

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from heatmaps.maps.pmtiles import version_of

MOST_BYTES: Final = 4 * 2**20  # of one answer; who wants more asks for the rest
_RANGE: Final = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII)

Span = tuple[int, int]  # first byte, and the one after the last


def answer(request: HttpRequest, file: BinaryIO, *, content_type: str, cache: str) -> HttpResponseBase:
    """Answers with the part, the whole file, or 304 for whoever has it; closes the file, now or when sent.

    Several ranges, or those of another version (`If-Range`), are answered with the whole file.
    """
    head = HttpResponse(content_type=content_type)
    head["ETag"], head["Cache-Control"] = f'"{version_of(os.fstat(file.fileno()))}"', cache
    result = part(request, head, lambda: file)
    if not result.streaming:
        file.close()
    return result


def part(request: HttpRequest, head: HttpResponse, opened: Callable[[], BinaryIO]) -> HttpResponseBase:
    """Answers as `answer`, without opening the file for whoever has it. head: its headers with its `ETag`."""
    head["Accept-Ranges"] = "bytes"
    settled = get_conditional_response(request, etag=head["ETag"], response=head)
    if settled is not None and settled is not head:
        return settled
    file = opened()
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    span = _span(request, head["ETag"], size)
    if request.method != "HEAD" and span is None:
        return _with_headers(FileResponse(file), head)
    with file:
        if span is None or request.method == "HEAD":
            head["Content-Length"] = str(size)
            return head
        if span[0] >= span[1]:
            result = _with_headers(HttpResponse(status=416), head)
            result["Content-Range"] = f"bytes */{size}"
            return result
        file.seek(span[0])
        content = file.read(span[1] - span[0])
    result = _with_headers(HttpResponse(content, status=206), head)
    result["Content-Range"] = f"bytes {span[0]}-{span[0] + len(content) - 1}/{size}"
    return result


def asks_for_part(request: HttpRequest) -> bool:
    """Returns whether it can get only a part of a file, however large; of another version it gets it all."""
    range_header = _RANGE.fullmatch(request.headers.get("Range", ""))
    return range_header is not None and _is_valid(range_header) and "If-Range" not in request.headers


def _span(request: HttpRequest, etag: str, size: int) -> Span | None:
    """Returns the range; None where not one of this version is asked for; empty outside of the file."""
    range_header = _RANGE.fullmatch(request.headers.get("Range", ""))
    if range_header is None or not _is_valid(range_header) or request.headers.get("If-Range", etag) != etag:
        return None  # of no valid range: as if none was sent
    first, last, final = range_header.groups()
    if final is not None:
        begin, end = max(size - int(final), 0), size
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
    return begin, min(end, begin + MOST_BYTES)


def _is_valid(range_header: re.Match[str]) -> bool:
    return not range_header[2] or int(range_header[1]) <= int(range_header[2])


def _with_headers(answer: HttpResponseBase, head: HttpResponse) -> HttpResponseBase:
    for name, value in head.items():
        answer[name] = value
    return answer
