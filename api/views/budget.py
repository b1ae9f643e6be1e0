"""Reads a budget and changes its limits with `If-Match`."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.refusals import PreconditionRequired
from api.schema import example, operation
from api.serializers.datasets import BudgetIn, BudgetOut
from api.views.shared import ApiView, body
from heatmaps.budget import alerts, limits
from heatmaps.ledger.balances import balances
from heatmaps.models import Dataset, Scope
from heatmaps.people.permissions import Act, dataset_for

_ETAG = OpenApiParameter(
    "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[200], description="Version of this budget."
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="The budget's ETag; `*` for any.",
)
_EXAMPLE = example({"limits": {"presence": "2.0"}, "reason": "agreed with the ethics board in March"})


class BudgetView(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}

    @operation("budget_read", BudgetOut, (404,), parameters=[_ETAG])
    def get(self, request: Request, slug: str) -> Response:
        """Show limit, spent and left of each account."""
        return _answer(request, dataset_for(request.user, slug))

    @operation(
        "budget_change",
        BudgetOut,
        (404, 412, 422, 428),
        parameters=[_ETAG, _IF_MATCH],
        request=BudgetIn,
        examples=[_EXAMPLE],
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change limits. All or none, with a reason that stays in the ledger."""
        dataset = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
        etag = request.headers.get("If-Match")
        if etag is None:
            raise PreconditionRequired
        # `*`: whatever it is; a text that is none of ours fits no budget.
        version = None if etag.strip() == "*" else etag.strip().strip('"')
        fields = body(request, BudgetIn)
        limits.change(
            request.user, dataset, fields["limits"], reason=fields["reason"], expected_fingerprint=version
        )
        return _answer(request, dataset)


def _answer(request: Request, dataset: Dataset) -> Response:
    accounts = balances(dataset)
    low = alerts.alerts_of(dataset, request.user)
    answer = BudgetOut({"accounts": accounts, "alerts": low}).data
    return Response(answer, headers={"ETag": f'"{limits.fingerprint(accounts)}"'})
