"""Lets a collection's shuffler learn of rounds, take part in them and hand over what came in."""

from collections.abc import Iterator
from typing import Any, BinaryIO
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from api.parsers import RawFile
from api.refusals import TooLarge
from api.schema import operation
from api.serializers.collections import BatchOut, FactsOut, PlannedRoundsOut, ShufflerPartIn
from api.views.shared import ApiView, body
from heatmaps.children.turns import turn
from heatmaps.collections import collection, handover, round_draws, rounds
from heatmaps.collections.handover import ShufflerPart
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.models import Collection, Round

_BATCH, _REPORTS = "Hazemap-Batch", "Hazemap-Reports"
_BLOCK = 2**20
_LONGEST_TOKEN = 100
_HEADERS = [
    OpenApiParameter(
        _BATCH, {"type": "string", "pattern": "^[0-9a-f]{64}$"}, OpenApiParameter.HEADER, required=True
    ),
    OpenApiParameter(_REPORTS, {"type": "integer", "minimum": 0}, OpenApiParameter.HEADER, required=True),
]


class ShufflerAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer <the shuffler's token>`; the request's `auth` is its collection."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Collection] | None:
        words = get_authorization_header(request).split()
        if len(words) != 2 or words[0].lower() != b"bearer" or len(words[1]) > _LONGEST_TOKEN:
            return None
        own_collection = collection.of_token(words[1].decode("latin-1"))
        if own_collection is None:
            raise AuthenticationFailed("Invalid token.")
        return AnonymousUser(), own_collection

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ShufflerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base has no types
    """Describes the token; drf-spectacular finds it through its class."""

    target_class = ShufflerAuthentication
    name = "shuffler"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The token of a collection's shuffler."}


class IsShuffler(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Collection)


class ShufflerView(ApiView):
    http_method_names = ["get", "head", "put"]
    authentication_classes = [ShufflerAuthentication]
    permission_classes = [IsShuffler]


class ShufflerRoundsView(ShufflerView):
    @operation("shuffler_rounds_list", PlannedRoundsOut)
    def get(self, request: Request) -> Response:
        """List a collection's rounds to its shuffler. All of them, latest first."""
        dataset = _collection(request).dataset
        bodies = [_round_body(row) for row in rounds.rounds_of(dataset)]
        return Response(PlannedRoundsOut({"results": bodies}).data)


class ShufflerRoundView(ShufflerView):
    @operation("shuffler_round_fix", FactsOut, (404, 409, 422), request=ShufflerPartIn)
    def put(self, request: Request, round_id: UUID) -> Response:
        """Tell a round's key and invitations. Fixes the round's facts, for good; the same again is answered
        the same."""
        _round(request, round_id)
        typed = body(request, ShufflerPartIn)
        return Response({"facts": handover.fix(round_id, ShufflerPart(**typed))})


class ShufflerTableView(ShufflerView):
    @operation("shuffler_round_table", {(200, "application/octet-stream"): OpenApiTypes.BINARY}, (404,))
    def get(self, request: Request, round_id: UUID) -> HttpResponse:
        """Read a round's table of integers."""
        with turn():
            table = round_draws.draw_of(_round(request, round_id)).device.table
        return HttpResponse(table, content_type="application/octet-stream")


@takes_up_to(lambda: round_draws.MOST_BATCH_BYTES)
class ShufflerBatchView(ShufflerView):
    parser_classes = [RawFile]

    @operation(
        "shuffler_batch_take",
        {200: BatchOut, 201: BatchOut},
        (404, 409, 422),
        parameters=_HEADERS,
        request={"application/octet-stream": OpenApiTypes.BINARY},
    )
    def put(self, request: Request, round_id: UUID) -> Response:
        """Hand over the messages of a round, after it closed. Sealed, joined and ascending; the same again is
        answered the same."""
        _round(request, round_id)
        if body_length(request) > round_draws.MOST_BATCH_BYTES:
            raise TooLarge(round_draws.MOST_BATCH_BYTES)
        sha256, reports = request.headers.get(_BATCH, ""), request.headers.get(_REPORTS, "")
        if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
            raise ValidationError({_BATCH: "expected 64 hexadecimal digits"})
        if not (reports.isascii() and reports.isdigit() and len(reports) <= 10):
            raise ValidationError({_REPORTS: "expected a whole number"})
        is_new = handover.take(round_id, sha256=sha256, reports=int(reports), blocks=_blocks(request.data))
        return Response({"batch": sha256}, 201 if is_new else 200)


def _collection(request: Request) -> Collection:
    if not isinstance(request.auth, Collection):
        raise TypeError("this view needs a shuffler's token")
    return request.auth


def _round(request: Request, round_id: UUID) -> Round:
    """Returns the round. Errors: Http404 for those of other collections, too."""
    row = rounds.rounds_of(_collection(request).dataset).filter(pk=round_id).first()
    if row is None:
        raise Http404("no such round")
    return row


def _round_body(row: Round) -> dict[str, Any]:
    """Describes a round from the row alone: it is asked for every few seconds."""
    return {
        "round": row.pk,
        "number": row.number,
        "state": rounds.state_of(row),
        "opens_at": int(row.opens_at.timestamp()),
        "closes_at": int(row.closes_at.timestamp()),
        "reports_per_person": row.reports_per_person,
        "most_invitations": rounds.most_reports_of(row),
        "open_link": row.release.dataset.collection.open_link,
        "least_reports": rounds.least_reports_of(row),
        "messages": row.messages,
        "message_bytes": row.message_bytes,
        "facts_sha256": row.facts_sha256,
    }


def _blocks(stream: BinaryIO | Any) -> Iterator[bytes]:
    """Yields the body in blocks; an empty one is no stream."""
    while hasattr(stream, "read") and (block := stream.read(_BLOCK)):
        yield block
