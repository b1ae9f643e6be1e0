"""The budget, and the change of limits by somebody who has seen it."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api.refusals import PreconditionRequired
from api.schema import answers, example
from api.serializers.datasets import BudgetIn, BudgetOut
from api.views.shared import ApiView, body
from heatmaps import alerts, limits
from heatmaps.access import Act, dataset_for
from heatmaps.ledger.balances import balances
from heatmaps.models import Dataset, Scope

_ETAG = OpenApiParameter(
    "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[200], description="Of this budget."
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the budget you have read; `*` for whatever it is.",
)
_EXAMPLE = example(
    {"limits": {"presence": "2.0"}, "reason": "agreed with the ethics board in March"}, request_only=True
)


class Budget(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}

    @extend_schema(operation_id="budget_read", parameters=[_ETAG], responses=answers(200, BudgetOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """What is left, held and spent on each account."""
        return _answer(request, dataset_for(request.user, slug))

    @extend_schema(
        operation_id="budget_change",
        parameters=[_ETAG, _IF_MATCH],
        request=BudgetIn,
        examples=[_EXAMPLE],
        responses=answers(200, BudgetOut, 404, 412, 413, 415, 422, 428),
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change limits, all or none, with a reason that stays in the ledger."""
        found = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
        seen = request.headers.get("If-Match")
        if seen is None:
            raise PreconditionRequired
        asked = body(request, BudgetIn)
        limits.change(request.user, found, asked["limits"], reason=asked["reason"], seen=_fingerprint(seen))
        return _answer(request, found)


def _answer(request: Request, found: Dataset) -> Response:
    held = balances(found)
    low = alerts.alerts_of(found, request.user)
    return Response(shown.budget(held, low), headers={"ETag": f'"{limits.fingerprint(held)}"'})


def _fingerprint(if_match: str) -> str | None:
    """None for `*`; a text that fits no budget where it is none of ours."""
    return None if if_match.strip() == "*" else if_match.strip().strip('"')
