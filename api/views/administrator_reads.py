"""Lists for stewards what administrators opened of their dataset."""

from rest_framework.request import Request
from rest_framework.response import Response

from api import pagination
from api.schema import listing
from api.serializers.members import AdministratorReadOut
from api.views.shared import ApiView
from heatmaps.ledger.administrator_reads import reads_of
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for


class AdministratorReadsView(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @listing("administrator_reads_list", AdministratorReadOut)
    def get(self, request: Request, slug: str) -> Response:
        """List what outside administrators opened. Latest first; repeats within 60 seconds count once."""
        rows = reads_of(dataset_for(request.user, slug, Act.SEE_DATA))
        return pagination.page(request, rows, AdministratorReadOut)
