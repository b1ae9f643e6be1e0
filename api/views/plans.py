"""Turns protection goals into a loss per distance."""

from rest_framework.request import Request
from rest_framework.response import Response

from api.schema import example, operation
from api.serializers.plans import PlanIn, PlanOut
from api.views.shared import ApiView, body
from heatmaps.models import Scope
from heatmaps.releases.epsilon.for_protection import plan, rounded_down, wish
from heatmaps.wording.goals import plan_sentences

_EXAMPLE = example(
    {
        "wishes": [
            {"part": "1/30", "distance_m": "1609344", "epsilon": "0.2"},
            {"part": "1", "distance_m": "160934.4", "epsilon": "0.2"},
        ]
    },
    title="A day within 1,000 miles, a month within 100",
)


class PlansView(ApiView):
    scopes = {"POST": Scope.READ}

    @operation("plans_create", PlanOut, (422,), request=PlanIn, examples=[_EXAMPLE])
    def post(self, request: Request) -> Response:
        """Plan a metric release. Finds α for "this part of a record within that distance at this ε".

        Reads no data and stores nothing.
        """
        fields = body(request, PlanIn)
        metric_plan = plan([wish(**each) for each in fields["wishes"]], fields.get("radius_m"))
        return Response(
            {
                "alpha_per_m": rounded_down(metric_plan.alpha_per_m),
                "epsilon": None if metric_plan.epsilon is None else rounded_down(metric_plan.epsilon),
                "sentences": plan_sentences(metric_plan.alpha_per_m, metric_plan.wishes),
            }
        )
