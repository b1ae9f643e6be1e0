"""Reads and changes analysts' allowances, and shows where a budget went."""

from rest_framework.request import Request
from rest_framework.response import Response

from api.schema import example, operation
from api.serializers.budget import AllowanceIn, AllowancesOut, SpendingOut
from api.views.shared import ApiView, body
from heatmaps.budget import allowances, spending
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for
from mechanisms.check import ParameterError

_EXAMPLE = example(
    {"account": "presence", "analyst": "ann", "allowance": "0.5", "reason": "her project ends in May"}
)


class AllowancesView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @operation("allowances_list", AllowancesOut, (404,))
    def get(self, request: Request, slug: str) -> Response:
        """List allowances over all time. Everyone's, if you may read the ledger; else your own."""
        dataset = dataset_for(request.user, slug)
        return Response(AllowancesOut({"allowances": allowances.allowances_of(dataset, request.user)}).data)

    @operation("allowances_change", AllowancesOut, (404, 422), request=AllowanceIn, examples=[_EXAMPLE])
    def post(self, request: Request, slug: str) -> Response:
        """Set one allowance. The reason stays in the ledger.

        Allowances divide a budget. Only the limit protects the people in the data, since all analysts are
        assumed to collude.
        """
        dataset = dataset_for(request.user, slug, Act.CHANGE_LIMIT)
        fields = body(request, AllowanceIn)
        if fields["follows_default"] == ("allowance" in fields):
            allowance = fields.get("allowance", "left out")
            raise ParameterError("allowance", allowance, "either this or follows_default")
        allowances.change(
            request.user,
            dataset,
            account=fields["account"],
            analyst=fields.get("analyst"),
            allowance=allowances.DEFAULT if fields["follows_default"] else fields["allowance"],
            reason=fields["reason"],
        )
        return Response(AllowancesOut({"allowances": allowances.allowances_of(dataset, request.user)}).data)


class SpendingOfDatasetView(ApiView):
    scopes = {"GET": Scope.READ}

    @operation("spending_read", SpendingOut, (404,))
    def get(self, request: Request, slug: str) -> Response:
        """Show where the budget went. By person, by mechanism and by day (UTC)."""
        dataset = dataset_for(request.user, slug)
        return Response(SpendingOut({"accounts": spending.spending_of(dataset, request.user)}).data)
