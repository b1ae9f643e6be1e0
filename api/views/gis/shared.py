"""Base view of addresses for map programs: by token, by session, or by nobody where a release is public."""

import hashlib
import json
from collections.abc import Mapping
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
from api.views.gis import parameters
from api.views.shared import ApiView
from heatmaps import queries
from heatmaps.http import caching, elsewhere
from heatmaps.models import Release, Scope

JSON: Final = "application/json"
CREDENTIALS: Final = ["Authorization", "Cookie"]  # headers that say who asks


@extend_schema(exclude=True)  # from the REST document: these follow standards of their own
class GisView(ApiView):
    """Lets any website read what it answers somebody without token and session."""

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
    """Returns the release of that name, for those who may see it. Errors: Http404."""
    return queries.published_for(request.user, release_id)


def conditional_answer(
    request: Request, release: Release | None, etag: str, content_type: str
) -> tuple[HttpResponse, bool]:
    """Returns the head of an answer about a release, and whether whoever asks has its content already."""
    head = HttpResponse(content_type=content_type)
    head["ETag"], head["Cache-Control"] = etag, caching.OWN
    if release is not None:
        caching.mark(head, request.user, release, by="Authorization")
    answer = get_conditional_response(request, etag=etag, response=head)
    if answer is None or answer is head:
        return head, False
    return answer, True


def address(request: Request, name: str, *arguments: object) -> str:
    """Returns the address of a page of this room, as programs need it."""
    return request.build_absolute_uri(reverse(f"gis:{name}", args=arguments))


def json_answer(
    request: Request, content: Mapping[str, Any], *, release: Release | None = None, kind: str = JSON
) -> HttpResponse:
    """Answers with JSON about a release, or about those that whoever asks may see; 304 for whoever has it."""
    text = json.dumps(content, ensure_ascii=False).encode()
    return text_answer(request, text, release=release, kind=kind)


def text_answer(request: Request, text: bytes, *, release: Release | None, kind: str) -> HttpResponse:
    """Answers as `json_answer`, with what is written already."""
    answer, done = conditional_answer(request, release, f'"{hashlib.sha256(text).hexdigest()}"', kind)
    if not done:
        answer.content = text
    return answer


class Links:
    """Collects links of one answer, in the order in which they are added."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.made: list[dict[str, str]] = []

    @property
    def as_json(self) -> str:
        return json.dumps(self.made, ensure_ascii=False)

    def add(
        self,
        rel: str,
        name: str,
        about: tuple[object, ...] = (),
        *,
        title: str,
        kind: str = JSON,
        query: str = "",
    ) -> None:
        """Adds a link to a page of this room."""
        href = address(self._request, name, *about) + (f"?{query}" if query else "")
        self.made.append({"href": href, "rel": rel, "type": kind, "title": title})

    def add_pages(
        self,
        name: str,
        about: tuple[object, ...] = (),
        *,
        offset: int,
        limit: int,
        count: int,
        kind: str = JSON,
    ) -> None:
        """Adds links to this page of a list, and to those after and before it."""
        query = self._request.GET
        self.add("self", name, about, title="This page", kind=kind, query=query.urlencode())
        if offset + limit < count:
            after = parameters.with_parameter(query, "offset", offset + limit)
            self.add("next", name, about, title="The next page", kind=kind, query=after)
        if offset:
            before = parameters.with_parameter(query, "offset", max(offset - limit, 0))
            self.add("prev", name, about, title="The page before", kind=kind, query=before)
