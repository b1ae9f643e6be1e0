"""The OpenAPI document's reader, offline, and the answer at addresses that do not exist."""

from typing import Any, Final, NoReturn

from django.http import Http404
from django.views.generic import TemplateView
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

# The document describes the product, not what is in it.
OPEN: Final[dict[str, Any]] = {"permission_classes": [AllowAny], "authentication_classes": []}


class Docs(TemplateView):
    template_name = "api/docs.html"


@extend_schema(exclude=True)
class Nowhere(APIView):
    permission_classes = [AllowAny]
    authentication_classes = []

    def initial(self, request: Request, *arguments: Any, **named: Any) -> NoReturn:
        raise Http404("there is nothing at this address; see /api/docs/")
