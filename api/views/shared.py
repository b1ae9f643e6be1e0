"""Base view of the API: tokens, scopes and strict parameters."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from api.serializers.fields import Strict
from heatmaps.models import Scope
from mechanisms.check import printable


class ApiView(APIView):
    """Checks that a token carries what `scopes` names; `api.schema` says what an address may hold."""

    http_method_names = ["get", "head", "post", "patch", "delete"]
    scopes: ClassVar[Mapping[str, Scope]] = {}
    repeatable: ClassVar[frozenset[str]] = frozenset()  # parameters that may appear more than once

    def initial(self, request: Request, *arguments: Any, **named: Any) -> None:
        super().initial(request, *arguments, **named)
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.allowed_methods:
            return  # ends in 405
        parameters: frozenset[str] = getattr(getattr(self, method.lower()), "query", frozenset())
        if unknown := [name for name in request.query_params if name not in parameters]:
            raise ValidationError({printable(name): "unknown parameter" for name in unknown})
        if repeated := [
            name
            for name, values in request.query_params.lists()
            if len(values) > 1 and name not in self.repeatable
        ]:
            raise ValidationError(dict.fromkeys(repeated, "this parameter appears more than once"))


def one_of(request: Request, name: str, words: Iterable[str], *, default: str = "") -> str:
    """Returns a parameter of the address that is one of these words. Errors: ValidationError."""
    text = request.query_params.get(name, default)
    allowed = list(words)
    if name in request.query_params and text not in allowed:
        raise ValidationError({name: f"expected one of: {', '.join(allowed)}"})
    return text


def person(request: Request) -> User:
    """Returns whoever the token belongs to."""
    if not isinstance(request.user, User):
        raise TypeError("this view needs a token")
    return request.user


def body(request: Request, shape: type[Strict]) -> dict[str, Any]:
    """Returns the body, once it has the shape. Errors: ValidationError."""
    read = shape(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
