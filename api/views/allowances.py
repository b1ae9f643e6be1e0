"""Allowances of analysts, and where a budget went."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import budgets as shown
from api.schema import answers, example
from api.serializers.budget import AllowanceIn, AllowancesOut, SpendingOut
from api.views.shared import ApiView, body
from heatmaps import allowances, spending
from heatmaps.access import Act, dataset_for
from heatmaps.models import Scope
from mechanisms.check import ParameterError

_EXAMPLE = example(
    {"account": "presence", "analyst": "ann", "allowance": "0.5", "reason": "her project ends in May"},
    request_only=True,
)


class Allowances(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @extend_schema(operation_id="allowances_list", responses=answers(200, AllowancesOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """Who may take how much, over all time: of all people for those who may read the ledger."""
        found = dataset_for(request.user, slug)
        return Response(shown.allowances(allowances.allowances_of(found, request.user)))

    @extend_schema(
        operation_id="allowances_change",
        request=AllowanceIn,
        examples=[_EXAMPLE],
        responses=answers(200, AllowancesOut, 404, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Set one allowance, with a reason that stays in the ledger.

        Allowances divide a budget; what is promised to the persons in the data is the limit alone, since all
        analysts are assumed to collude.
        """
        found = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
        asked = body(request, AllowanceIn)
        if asked["follows_default"] == ("allowance" in asked):
            given = asked.get("allowance", "left out")
            raise ParameterError("allowance", given, "either this or follows_default")
        allowances.change(
            request.user,
            found,
            account=asked["account"],
            analyst=asked.get("analyst"),
            allowance=allowances.DEFAULT if asked["follows_default"] else asked["allowance"],
            reason=asked["reason"],
        )
        return Response(shown.allowances(allowances.allowances_of(found, request.user)))


class SpendingOfDataset(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(operation_id="spending_read", responses=answers(200, SpendingOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """What took the budget: by person, by mechanism and by day (UTC)."""
        found = dataset_for(request.user, slug)
        return Response(shown.spending(spending.spending_of(found, request.user)))
