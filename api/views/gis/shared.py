"""Base view of addresses for map programs: by token, by session, or by nobody where a release is public."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request

from api.authentication import BearerAuthentication
from api.permissions import ForMapPrograms, is_nobody
from api.throttles import TilesThrottle, TokenThrottle
from api.views.shared import ApiView
from heatmaps import queries
from heatmaps.http import caching, elsewhere
from heatmaps.models import Release, Scope

CREDENTIALS: Final = ["Authorization", "Cookie"]  # headers that say who asks


@extend_schema(exclude=True)  # from the REST document: these follow standards of their own
class GisView(ApiView):
    """What it answers somebody without token and session may be read by any website."""

    http_method_names = ["get", "head"]
    scopes = {"GET": Scope.READ}
    authentication_classes = [BearerAuthentication, SessionAuthentication]
    permission_classes = [ForMapPrograms]
    throttle_classes = [TokenThrottle, TilesThrottle]

    def initial(self, request: Request, *arguments: Any, **named: Any) -> None:
        if str(request.method).lower() not in self.http_method_names:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *arguments, **named)

    def finalize_response(self, request: Request, response: Any, *arguments: Any, **named: Any) -> Any:
        answer = super().finalize_response(request, response, *arguments, **named)
        patch_vary_headers(answer, CREDENTIALS)
        # Of copies too; a refusal is nobody else's business, and must not outlive its reason.
        if answer.status_code >= 400:
            answer["Cache-Control"] = "no-store"
        elif is_nobody(request):
            elsewhere.show(answer)
        return answer


def published(request: Request, release_id: UUID) -> Release:
    """The release of that name, for those who may see it. Errors: Http404."""
    return queries.published_for(request.user, release_id)


def settled(request: Request, release: Release, etag: str, content_type: str) -> tuple[HttpResponse, bool]:
    """The head of an answer about a release, and whether whoever asks has its content already."""
    head = HttpResponse(content_type=content_type)
    head["ETag"] = etag
    caching.mark(head, request.user, release, by="Authorization")
    answer = get_conditional_response(request, etag=etag, response=head)
    if answer is None or answer is head:
        return head, False
    return answer, True


def address(request: Request, name: str, *arguments: object) -> str:
    """Of a page of this room, as programs need it."""
    return request.build_absolute_uri(reverse(f"gis:{name}", args=arguments))
