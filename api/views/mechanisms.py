"""Lists the catalogue of mechanisms."""

from typing import Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.schema import listing
from api.serializers.releases import MechanismOut
from api.views.shared import ApiView
from heatmaps.models import Scope
from heatmaps.people.permissions import dataset_for
from heatmaps.releases import readings
from mechanisms.catalogue import registry

_DATASET: Final = "dataset"
_DATASET_PARAMETER = OpenApiParameter(
    _DATASET,
    {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 60},
    description="A dataset's `slug`: only what can be asked of it.",
)


class MechanismsView(ApiView):
    scopes = {"GET": Scope.READ}

    @listing("mechanisms_list", MechanismOut, _DATASET_PARAMETER)
    def get(self, request: Request) -> Response:
        """List mechanisms. With relations and parameters, in the order they are offered."""
        if _DATASET not in request.query_params:
            return pagination.page(request, registry.entries(), answers.mechanism)
        dataset = dataset_for(request.user, request.query_params[_DATASET])
        return pagination.page(
            request, readings.offered(dataset), lambda entry: answers.mechanism(entry, of=dataset)
        )
