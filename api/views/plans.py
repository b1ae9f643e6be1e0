"""From what people want protected to a loss per distance."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.schema import answers, example
from api.serializers.plans import PlanIn, PlanOut
from api.views.shared import ApiView, body
from heatmaps.models import Scope
from heatmaps.plans import plan, rounded_down, wish

_EXAMPLE = example(
    {
        "wishes": [
            {"part": "1/30", "distance_m": "1609344", "epsilon": "0.2"},
            {"part": "1", "distance_m": "160934.4", "epsilon": "0.2"},
        ]
    },
    title="Any day of a month within 1,000 miles, the whole month within 100",
    request_only=True,
)


class Plans(ApiView):
    scopes = {"POST": Scope.READ}

    @extend_schema(
        operation_id="plans_create",
        request=PlanIn,
        responses=answers(200, PlanOut, 413, 415, 422),
        examples=[_EXAMPLE],
    )
    def post(self, request: Request) -> Response:
        """Plan a metric release: α for "this part of a record within that distance at this ε".

        Reads no data and stores nothing.
        """
        asked = body(request, PlanIn)
        found = plan([wish(**each) for each in asked["wishes"]], asked.get("radius_m"))
        return Response(
            {
                "alpha_per_m": rounded_down(found.alpha_per_m),
                "epsilon": None if found.epsilon is None else rounded_down(found.epsilon),
                "sentences": found.sentences,
            }
        )
