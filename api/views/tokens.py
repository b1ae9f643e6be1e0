"""Creates, lists and revokes tokens; only their owner may."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import authenticate
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from api import pagination
from api.refusals import SecondFactorNeeded, WrongCredentials
from api.schema import example, gone, listing, operation, problems
from api.serializers.tokens import NewTokenOut, TokenIn, TokenOut
from api.throttles import SignInThrottle
from api.views.shared import ApiView, body, person
from heatmaps.http import attempt_limits
from heatmaps.models import ApiToken, Scope
from heatmaps.people import accounts
from heatmaps.people.tokens import make_token

_EXAMPLE = example(
    {"username": "steward", "password": "…", "name": "laptop", "scopes": ["read", "release"], "days": 30}
)


class TokensView(ApiView):
    scopes = {"GET": Scope.READ}

    def get_permissions(self) -> Sequence[Any]:
        return [AllowAny()] if self.request.method == "POST" else super().get_permissions()

    def get_throttles(self) -> list[BaseThrottle]:
        return [SignInThrottle()] if self.request.method == "POST" else super().get_throttles()

    @listing("tokens_list", TokenOut)
    def get(self, request: Request) -> Response:
        """List your tokens. Latest first, without their secrets."""
        rows = ApiToken.objects.filter(user=person(request)).order_by("-created")
        return pagination.page(request, rows, TokenOut)

    @extend_schema(
        operation_id="tokens_create",
        auth=[],
        request=TokenIn,
        examples=[_EXAMPLE],
        responses={201: NewTokenOut, **problems(400, 401, 403, 413, 415, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        """Create a token with name and password. Only this answer has its secret.

        Accounts with a second factor create theirs on their account's page.
        """
        typed = body(request, TokenIn)
        user = authenticate(request, username=typed["username"], password=typed["password"])
        if user is None:
            raise WrongCredentials
        # Before the attempts are forgotten: whoever has the password alone goes on being counted.
        if accounts.has_second_factor(user) or accounts.second_factor_required():
            raise SecondFactorNeeded
        attempt_limits.forget_sign_in(typed["username"], attempt_limits.address_of(request))
        token, secret = make_token(user, name=typed["name"], scopes=typed["scopes"], days=typed.get("days"))
        token.token = secret  # for this answer; it is stored nowhere
        return Response(NewTokenOut(token).data, 201, headers={"Cache-Control": "no-store"})


class TokenView(ApiView):
    """Revokes a token. That takes rights away only: any token of its owner may do it."""

    @operation("tokens_revoke", gone("Revoked."), (404,))
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke one of your tokens."""
        deleted, _ = ApiToken.objects.filter(user=person(request), token_key=token_id).delete()
        if not deleted:
            raise Http404("no such token")
        return Response(status=204)
