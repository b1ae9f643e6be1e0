"""Lists the tables in lakes that datasets can read."""

from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.schema import listing
from api.serializers.sources import SourceOut
from api.views.shared import ApiView, person
from heatmaps import sources
from heatmaps.models import Scope
from heatmaps.people.permissions import require_creator


class SourcesView(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @listing("sources_list", SourceOut)
    def get(self, request: Request) -> Response:
        """List tables in lakes that you can make a dataset of. For those who may make datasets.

        Where they are, only the administrator's file says."""
        offered = sources.offered(require_creator(person(request)))
        return pagination.page(request, list(offered.values()), answers.source)
