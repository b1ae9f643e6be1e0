"""Authenticates requests by bearer token and describes that in the OpenAPI document."""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from heatmaps.models import ApiToken
from heatmaps.people import accounts, tokens

_LONGEST_TOKEN = 200  # characters
_NEEDS_FACTOR = "this server requires a second factor; set one up on the page of your account first"


class BearerAuthentication(TokenAuthentication):  # type: ignore[misc]  # knox carries no types
    """Reads `Authorization: Bearer <token>`; the request's `auth` is the token's row."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if len(token) > _LONGEST_TOKEN or not (token.isascii() and token.isalnum()):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Deletes a token that has ended, with others of its owner; returns whether it has.

        Knox asks for those others with every request, which is a query.
        """
        has_ended = auth_token.expiry is not None and auth_token.expiry < timezone.now()
        if has_ended:
            tokens.delete_ended(auth_token.user)
        return has_ended

    def validate_user(self, auth_token: ApiToken) -> tuple[User, ApiToken]:
        """Returns owner and token. Errors: AuthenticationFailed; PermissionDenied while the owner lacks a
        second factor."""
        user, token = super().validate_user(auth_token)
        if accounts.lacks_second_factor(user):
            raise PermissionDenied(_NEEDS_FACTOR, code="second_factor_needed")
        return user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base has no types
    """Describes the token; drf-spectacular finds it through its class."""

    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `POST /api/v1/tokens/`. Its scopes (`read`, `release`, `steward`) "
            "narrow what its owner's roles allow.",
        }
