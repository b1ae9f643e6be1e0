"""Routes a bare Django view: JSON of a number of bytes for whoever is signed in."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path


def answer(request: HttpRequest, size: int) -> JsonResponse:
    return JsonResponse({"name": request.user.get_username(), "rows": "x" * size})


def with_these_addresses(get_response):  # type: ignore[no-untyped-def]
    """Middleware: no view of the product answers."""

    def respond(request: HttpRequest) -> HttpResponse:
        request.urlconf = __name__
        return get_response(request)

    return respond


urlpatterns = [path("bare/<int:size>/", answer)]
