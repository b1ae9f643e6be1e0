"""Reads forms as UTF-8, whatever encoding a request names: some names are of no encoding of text."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

FORM: Final = "multipart/form-data"
UTF8: Final = "utf-8"


def read_utf8(get_response: GetResponse) -> GetResponse:
    """Middleware, before whatever reads a form. Django itself refuses other encodings of simpler forms."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.content_type == FORM and request.encoding not in (None, UTF8):
            request.encoding = UTF8
        return get_response(request)

    return answer
