"""Answers HEAD with headers alone: what follows them on a connection is the next answer."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def drop_bodies(get_response: GetResponse) -> GetResponse:
    """Drops bodies of HEAD, outside of whatever middleware may answer: neither Django nor the server does."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method != "HEAD":
            return response
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = iter(())  # what it was made of is closed with it
        else:
            response.headers.setdefault("Content-Length", str(len(response.content)))  # type: ignore[attr-defined]
            response.content = b""  # type: ignore[attr-defined]  # of every answer that is not streamed
        return response

    return answer
