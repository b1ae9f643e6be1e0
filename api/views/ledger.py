"""The ledger's events."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import PAGING, answers, page_of
from api.serializers.ledger import EventOut
from api.views.shared import ApiView
from heatmaps import queries
from heatmaps.access import Act, dataset_for
from heatmaps.models import Scope


class Ledger(ApiView):
    scopes = {"GET": Scope.READ}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}

    @extend_schema(
        operation_id="ledger_list", parameters=PAGING, responses=answers(200, page_of(EventOut), 404)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Events in their order, the first one first, so that pages stay as they are while it grows."""
        found = dataset_for(request.user, slug, Act.READ_LEDGER)
        rows = queries.events_of(found).order_by("sequence")
        return pagination.page(request, rows, lambda row: shown.event(request, found, row))
