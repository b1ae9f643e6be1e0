"""Lists, creates and shows datasets and their versions."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.schema import LOCATION, PAGING, example, listing, operation
from api.serializers.datasets import DatasetChangeIn, DatasetIn, DatasetOut, VersionOut, VersionsOut
from api.serializers.fields import Strict
from api.serializers.sources import SurveyOut
from api.views.shared import ApiView, body, person
from heatmaps import datasets, queries
from heatmaps.collections.collection import NewCollection
from heatmaps.datasets import NewDataset
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.models import AccountKind, Scope, SourceSurvey
from heatmaps.people.permissions import Act, dataset_for, may, require_creator
from heatmaps.queries import LONGEST_SEARCH
from mechanisms.space.grid import Region

_SEARCH: Final = "search"
_SEARCH_PARAMETER = OpenApiParameter(
    _SEARCH, {"type": "string", "maxLength": 120}, description="Words of the title or of the slug."
)
_EXAMPLES = [
    example(
        {
            "slug": "austin",
            "title": "Austin, check-ins of 2025",
            "bbox": [-98.3, 29.8, -97.3, 31.0],
            "relation": "add_remove",
            "limits": {"presence": "1.0", "delta": "0"},
            "expected_persons": 5000,
            "retention_days": 365,
        },
        title="A person is there or not",
    ),
    example(
        {
            "slug": "fleet",
            "title": "A fleet of 300",
            "bbox": [-98.3, 29.8, -97.3, 31.0],
            "relation": "replace",
            "limits": {"record": "4", "radius": "1.0", "delta": "0"},
            "radius_m": 600,
            "persons": 300,
        },
        title="A record is exchanged for another",
    ),
]
_WEEKLY = example(
    {"schedule": {"every": "weekly", "hour": 3, "weekday": "monday"}, "reason": "agreed with the board"},
    title="Versions on a schedule",
)
_EMBEDDED = example(
    {"embed_origins": ["https://news.example"], "reason": "for the article"}, title="Embedded by a website"
)
_KEPT = example(
    {"retention_days": 90, "reason": "as we told the participants"}, title="Check-ins kept for 90 days"
)


class DatasetsView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @listing("datasets_list", DatasetOut, _SEARCH_PARAMETER)
    def get(self, request: Request) -> Response:
        """List your datasets. Administrators get all of them."""
        rows = queries.datasets_of(person(request), _search(request))
        rows = rows.select_related("collection")
        return pagination.page_at_once(request, rows, lambda page: answers.datasets(request, page))

    @operation(
        "datasets_create",
        DatasetOut,
        (422,),
        status=201,
        parameters=[LOCATION],
        request=DatasetIn,
        examples=_EXAMPLES,
    )
    def post(self, request: Request) -> Response:
        """Create a dataset. You become its steward. Relation, region and radius cannot change later."""
        creator = require_creator(person(request))  # first: what is refused names the tables that there are
        dataset = datasets.create(creator, _new_dataset(body(request, DatasetIn)))
        answer = answers.dataset(request, dataset)
        return Response(answer, 201, headers={"Location": answer["links"]["self"]})


class DatasetView(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}

    @operation("datasets_read", DatasetOut, (404,))
    def get(self, request: Request, slug: str) -> Response:
        """Show a dataset's public facts."""
        return Response(answers.dataset(request, dataset_for(request.user, slug)))

    @operation(
        "datasets_change",
        DatasetOut,
        (404, 422),
        request=DatasetChangeIn,
        examples=[_WEEKLY, _KEPT, _EMBEDDED],
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change schedule, retention or embedding. The reason goes into the ledger; what is left out
        stays."""
        dataset = dataset_for(request.user, slug, Act.PUBLISH)
        typed = body(request, DatasetChangeIn)
        if "schedule" in typed:
            typed["schedule"] = _schedule(typed["schedule"])
        datasets.change(request.user, dataset, **typed)
        return Response(answers.dataset(request, dataset_for(request.user, slug)))


class VersionsView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}

    @operation("versions_list", VersionsOut, (404,), parameters=PAGING)
    def get(self, request: Request, slug: str) -> Response:
        """List data versions, latest first. Also says when the schedule makes the next one."""
        dataset = dataset_for(request.user, slug)
        to_steward = may(request.user, dataset, Act.SEE_DATA)
        rows = queries.versions_of(dataset).select_related("source_state")
        page = pagination.page(request, rows, lambda row: answers.version(row, to_steward=to_steward))
        survey = queries.survey_of(dataset) if to_steward else None
        rule = {"schedule": answers.schedule(dataset), "next_version_at": dataset.next_version_at}
        return Response(page.data | rule | {"survey": None if survey is None else answers.survey(survey)})

    @operation("versions_advance", {201: VersionOut, 202: SurveyOut}, (404, 409, 413, 415))
    def post(self, request: Request, slug: str) -> Response:
        """Make a new data version. Releases from now on read every upload that is ready. Takes no body.

        202 where check-ins stay in a lake: a worker looks at the table first, and the version appears at the
        moment that the answer says. Refused (409) where a public schedule makes the versions (`scheduled`)
        and where one is on its way (`survey_under_way`)."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        body(request, Strict)
        step = dataset.origin.advance(request.user, dataset)
        if isinstance(step, SourceSurvey):
            return Response(answers.survey(step), 202)
        return Response(answers.version(step, to_steward=True), 201)


def _new_dataset(typed: dict[str, Any]) -> NewDataset:
    bbox, limits, schedule = typed.pop("bbox"), typed.pop("limits"), typed.pop("schedule", None)
    collection = typed.pop("collection", None)
    return NewDataset(
        collection=None if collection is None else NewCollection(**collection),
        schedule=_schedule(schedule),
        region=Region(*bbox),
        limits={AccountKind(kind): text for kind, text in limits.items()},
        **typed,
    )


def _schedule(typed: object) -> Schedule | None:
    return Schedule(**typed) if isinstance(typed, dict) else None


def _search(request: Request) -> str:
    text = request.query_params.get(_SEARCH, "")
    if len(text) > LONGEST_SEARCH or "\0" in text:
        raise ValidationError({_SEARCH: f"at most {LONGEST_SEARCH} characters"})
    return text
