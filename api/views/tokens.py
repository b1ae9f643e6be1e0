"""Tokens: made with name and password, listed and revoked by their owner."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth import authenticate
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from api import pagination
from api.refusals import WrongCredentials
from api.schema import PAGING, answers, example, page_of, problems
from api.serializers.tokens import NewTokenOut, TokenIn, TokenOut
from api.throttles import AddressThrottle, NameThrottle
from api.views.shared import ApiView, body, person
from heatmaps import attempts
from heatmaps.models import ApiToken, Scope

_EXAMPLE = example(
    {"username": "steward", "password": "…", "name": "laptop", "scopes": ["read", "release"], "days": 30},
    request_only=True,
)


class Tokens(ApiView):
    scopes = {"GET": Scope.READ}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}

    def get_permissions(self) -> Sequence[Any]:
        return [AllowAny()] if self.request.method == "POST" else super().get_permissions()

    def get_throttles(self) -> list[BaseThrottle]:
        sign_in = self.request.method == "POST"
        return [AddressThrottle(), NameThrottle()] if sign_in else super().get_throttles()

    @extend_schema(
        operation_id="tokens_list", parameters=PAGING, responses=answers(200, page_of(TokenOut), 404)
    )
    def get(self, request: Request) -> Response:
        """Your own tokens, the latest first; without their secrets, which nobody has but you."""
        rows = ApiToken.objects.filter(user=person(request)).order_by("-created")
        return pagination.page(request, rows, lambda row: TokenOut(row).data)

    @extend_schema(
        operation_id="tokens_create",
        auth=[],
        request=TokenIn,
        examples=[_EXAMPLE],
        responses={201: NewTokenOut, **problems(400, 401, 413, 415, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        """Make a token with name and password. Its secret is in this answer and nowhere else."""
        typed = body(request, TokenIn)
        user = authenticate(request, username=typed["username"], password=typed["password"])
        if user is None:
            raise WrongCredentials
        attempts.forget_sign_in(typed["username"], attempts.address_of(request))
        made, secret = ApiToken.objects.create(
            user=user,
            name=typed["name"],
            scopes=sorted(set(typed["scopes"])),
            expiry=timedelta(days=typed["days"]) if "days" in typed else None,
        )
        made.token = secret  # for this answer; it is stored nowhere
        return Response(NewTokenOut(made).data, 201, headers={"Cache-Control": "no-store"})


class Token(ApiView):
    """Revoking takes rights away only: any token of its owner may do it."""

    @extend_schema(operation_id="tokens_revoke", responses=answers(204, None, 404, says="Revoked."))
    def delete(self, request: Request, token_id: str) -> Response:
        """Revoke a token of your own; it is refused from now on."""
        deleted, _ = ApiToken.objects.filter(user=person(request), token_key=token_id).delete()
        if not deleted:
            raise Http404("no such token")
        return Response(status=204)
