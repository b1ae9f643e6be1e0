"""Manages opt-outs, for stewards only; no name is stored, answered or part of an address."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.schema import example, gone, listing, operation
from api.serializers.uploads import OptOutIn, OptOutOut
from api.views.shared import ApiView, body
from heatmaps.ingest import opt_outs
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for

_EXAMPLE = example({"user": "u1"})


class OptOutsView(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}

    @listing("opt_outs_list", OptOutOut)
    def get(self, request: Request, slug: str) -> Response:
        """List opt-outs, latest first, without names."""
        rows = opt_outs.entries(request.user, dataset_for(request.user, slug, Act.SEE_DATA))
        return pagination.page(request, rows, OptOutOut)

    @operation(
        "opt_outs_create",
        {201: OptOutOut, 200: OptOutOut},
        (404, 422, 503),
        request=OptOutIn,
        examples=[_EXAMPLE],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Leave a person out. From the next data version on, whether the files have them or not.

        200 with the same entry if they are left out already."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        entry, is_new = opt_outs.enter(request.user, dataset, body(request, OptOutIn)["user"])
        return Response(OptOutOut(entry).data, 201 if is_new else 200)


class OptOutView(ApiView):
    scopes = {"DELETE": Scope.STEWARD}

    @operation("opt_outs_delete", gone(), (404,))
    def delete(self, request: Request, slug: str, entry: UUID) -> Response:
        """Take an opt-out back. The person counts again from the next version, with all check-ins."""
        opt_outs.take_back_entry(request.user, dataset_for(request.user, slug, Act.UPLOAD), entry)
        return Response(status=204)


class TakeBackView(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @operation("opt_outs_take_back", gone(), (404, 409, 422, 503), request=OptOutIn, examples=[_EXAMPLE])
    def post(self, request: Request, slug: str) -> Response:
        """Take an opt-out back by name. 409 (`not_opted_out`) if there is none."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        if not opt_outs.take_back(request.user, dataset, [body(request, OptOutIn)["user"]]):
            raise UploadError("not_opted_out", "this user has not opted out, or the opt-out was taken back")
        return Response(status=204)
