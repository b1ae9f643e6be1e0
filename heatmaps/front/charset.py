"""Reads forms as UTF-8, whatever encoding a request names: some names are of no encoding of text."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

FORMS: Final = ("multipart/form-data", "application/x-www-form-urlencoded")
UTF8: Final = "utf-8"


def read_utf8(get_response: GetResponse) -> GetResponse:
    """Reads forms as UTF-8, before other middleware does: Django's error pages fail at other encodings."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.content_type in FORMS and request.encoding not in (None, UTF8):
            request.encoding = UTF8
        return get_response(request)

    return answer
