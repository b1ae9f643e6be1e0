"""Authenticates requests by bearer token and describes that in the OpenAPI document."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

_LONGEST_TOKEN = 200  # characters


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]  # knox carries no types
    """`Authorization: Bearer <token>`; `request.auth` is the token's row."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if len(token) > _LONGEST_TOKEN or not (token.isascii() and token.isalnum()):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base has no types
    """Found by drf-spectacular through its class."""

    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `POST /api/v1/tokens/`. Its scopes (`read`, `release`, `steward`) "
            "narrow what its owner's roles allow.",
        }
