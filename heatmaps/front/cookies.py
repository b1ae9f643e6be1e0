"""Keeps cookies away from embedded pages and from scripts of maps: none reaches them and none leaves them."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

WITHOUT_COOKIES: Final = ("/embed/", "/scripts/")


def drop_cookies(get_response: GetResponse) -> GetResponse:
    """Drops cookies, outside of whatever middleware reads them."""

    def answer(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(WITHOUT_COOKIES):
            return get_response(request)
        request.META.pop("HTTP_COOKIE", None)
        response = get_response(request)
        response.cookies.clear()
        if response.get("Vary") == "Cookie":  # an empty session was looked at
            del response["Vary"]
        return response

    return answer
