"""Lists the catalogue of mechanisms."""

from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import listing
from api.serializers.releases import MechanismOut
from api.views.shared import ApiView
from heatmaps.models import Scope
from mechanisms.catalogue import registry


class Mechanisms(ApiView):
    scopes = {"GET": Scope.READ}

    @listing("mechanisms_list", MechanismOut)
    def get(self, request: Request) -> Response:
        """List mechanisms. With relations and parameters, in the order they are offered."""
        return pagination.page(request, registry.entries(), shown.mechanism)
