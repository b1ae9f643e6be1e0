"""The catalogue."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import PAGING, answers, page_of
from api.serializers.releases import MechanismOut
from api.views.shared import ApiView
from heatmaps.models import Scope
from mechanisms import catalogue


class Mechanisms(ApiView):
    scopes = {"GET": Scope.READ}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}

    @extend_schema(
        operation_id="mechanisms_list", parameters=PAGING, responses=answers(200, page_of(MechanismOut), 404)
    )
    def get(self, request: Request) -> Response:
        """Mechanisms with their relations and parameters, in the order they are offered."""
        return pagination.page(request, catalogue.entries(), shown.mechanism)
