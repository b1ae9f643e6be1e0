"""Shows what a restore brought back with a dataset, and lets a steward confirm it."""

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from api.schema import example, operation
from api.serializers.restorations import RestorationIn, RestorationOut
from api.views.shared import ApiView, body, person
from heatmaps.ingest import restorations
from heatmaps.models import Dataset, Restoration, Scope
from heatmaps.people.permissions import Act, dataset_for


class DatasetRestorationView(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}

    @operation("restorations_read", RestorationOut, (404,))
    def get(self, request: Request, slug: str) -> Response:
        """Show the dataset's latest restore. 404 where there was none."""
        dataset = dataset_for(request.user, slug, Act.CONFIRM_RESTORATION)
        latest = restorations.latest(dataset)
        if latest is None:
            raise Http404("this dataset was never restored")
        return _answer(request, dataset, latest)

    @operation(
        "restorations_confirm",
        RestorationOut,
        (404, 409, 422),
        request=RestorationIn,
        examples=[example({"members": [], "opt_outs_entered": True})],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Confirm members and opt-outs after a restore. Until then nothing can be asked (`on_hold`), and
        analysts and auditors do not see the dataset. Of a lake the table is read first (409,
        `needs_version`)."""
        dataset = dataset_for(request.user, slug, Act.CONFIRM_RESTORATION)
        confirmation = body(request, RestorationIn)
        confirmed = restorations.confirm(
            person(request),
            dataset,
            members_kept=confirmation["members"],
            opt_outs_entered=confirmation["opt_outs_entered"],
        )
        return _answer(request, dataset, confirmed)


def _answer(request: Request, dataset: Dataset, latest: Restoration) -> Response:
    facts = {
        "known_until": latest.known_until,
        "resumed_at": latest.resumed_at,
        "confirmed_at": latest.confirmed_at,
        "confirmed_by": latest.confirmed_by,
        "charges": restorations.charges_of(latest),
        "asks_opt_outs": restorations.asks_opt_outs(latest),
        "members": restorations.other_members(person(request), dataset),
    }
    return Response(RestorationOut(facts).data)
