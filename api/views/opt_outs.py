"""People left out: data, for stewards only; no name is stored, answered or part of an address."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.schema import PAGING, answers, example, page_of
from api.serializers.uploads import OptOutIn, OptOutOut
from api.views.shared import ApiView, body
from heatmaps.access import Act, dataset_for
from heatmaps.ingest import optouts
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Scope

_EXAMPLE = example({"user": "u1"}, request_only=True)


class OptOuts(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}

    @extend_schema(
        operation_id="opt_outs_list", parameters=PAGING, responses=answers(200, page_of(OptOutOut), 404)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Entries, the latest first, without names."""
        rows = optouts.entries(request.user, dataset_for(request.user, slug, Act.SEE_DATA))
        return pagination.page(request, rows, lambda row: OptOutOut(row).data)

    @extend_schema(
        operation_id="opt_outs_create",
        request=OptOutIn,
        examples=[_EXAMPLE],
        responses=answers(201, OptOutOut, 404, 413, 415, 422, 503) | {200: OptOutOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Leave somebody out from the next data version on, whether the files have them or not.

        200 with the same entry where they are left out already."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        entry, is_new = optouts.enter(request.user, found, body(request, OptOutIn)["user"])
        return Response(OptOutOut(entry).data, 201 if is_new else 200)


class OptOut(ApiView):
    scopes = {"DELETE": Scope.STEWARD}

    @extend_schema(operation_id="opt_outs_delete", request=None, responses=answers(204, None, 404))
    def delete(self, request: Request, slug: str, entry: UUID) -> Response:
        """Take an entry back: from the next data version on they count again, with all their check-ins."""
        optouts.take_back_entry(request.user, dataset_for(request.user, slug, Act.UPLOAD), entry)
        return Response(status=204)


class TakeBack(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @extend_schema(
        operation_id="opt_outs_take_back",
        request=OptOutIn,
        examples=[_EXAMPLE],
        responses=answers(204, None, 404, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request, slug: str) -> Response:
        """The same by name, for who kept no list of entries. 409 (`not_opted_out`) where there is none."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        if not optouts.take_back(request.user, found, [body(request, OptOutIn)["user"]]):
            raise UploadError("not_opted_out", "this user is not left out, or was taken back already")
        return Response(status=204)
