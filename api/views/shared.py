"""What every address of the API has in common."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from api.serializers.fields import Strict
from heatmaps.models import Scope
from mechanisms.check import shown


class ApiView(APIView):
    """`scopes` names what a token must carry for a method, `query` the parameters an address may have."""

    http_method_names = ["get", "head", "post", "patch", "delete"]
    scopes: ClassVar[Mapping[str, Scope]] = {}
    query: ClassVar[Mapping[str, frozenset[str]]] = {}

    def initial(self, request: Request, *arguments: Any, **named: Any) -> None:
        super().initial(request, *arguments, **named)
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.allowed_methods:
            return  # ends in 405
        known = self.query.get(method, frozenset())
        if unknown := [name for name in request.query_params if name not in known]:
            raise ValidationError({shown(name): "there is no such parameter" for name in unknown})


def person(request: Request) -> User:
    """Whoever the token belongs to."""
    if not isinstance(request.user, User):
        raise TypeError("this view lets nobody in without a token")
    return request.user


def body(request: Request, shape: type[Strict]) -> dict[str, Any]:
    """The body, once it has the shape. Errors: ValidationError."""
    read = shape(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
