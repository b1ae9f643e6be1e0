"""Serves the OpenAPI document, its offline reader, and the answer for unknown addresses."""

from functools import cache
from typing import Any, Final, NoReturn

from django.http import Http404, HttpResponse
from django.views.generic import TemplateView
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

# The document describes the product, not what is in it.
OPEN: Final[dict[str, Any]] = {"permission_classes": [AllowAny], "authentication_classes": []}


class SchemaView(SpectacularJSONAPIView):
    """Gives the document that was made once in this process: it depends on the code alone."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *arguments: Any, **named: Any) -> HttpResponse:
        answer = HttpResponse(document(), content_type=request.accepted_renderer.media_type)
        answer["Content-Disposition"] = 'inline; filename="Hazemap.json"'
        return answer


@cache
def document() -> bytes:
    """Returns the OpenAPI document as JSON."""
    generator: Any = SchemaGenerator  # untyped
    schema = generator().get_schema(request=None, public=True)
    return bytes(OpenApiJsonRenderer().render(schema, renderer_context={}))


class DocsView(TemplateView):
    template_name = "api/docs.html"


@extend_schema(exclude=True)
class NowhereView(APIView):
    permission_classes = [AllowAny]
    authentication_classes = []

    def initial(self, request: Request, *arguments: Any, **named: Any) -> NoReturn:
        raise Http404("nothing is at this address; see /api/docs/")
