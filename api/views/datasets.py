"""Datasets and their versions."""

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import LOCATION, PAGING, answers, example, page_of
from api.serializers.datasets import DatasetChangeIn, DatasetIn, DatasetOut, VersionOut, VersionsOut
from api.serializers.fields import Strict
from api.views.shared import ApiView, body, person
from heatmaps import datasets, queries
from heatmaps.access import Act, dataset_for
from heatmaps.datasets import NewDataset
from heatmaps.ingest import uploads
from heatmaps.models import AccountKind, Scope
from heatmaps.queries import LONGEST_SEARCH
from heatmaps.schedules import Schedule
from mechanisms.grid import Region

_PAGES = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}
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
        request_only=True,
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
        request_only=True,
    ),
]
_WEEKLY = example(
    {"schedule": {"every": "weekly", "hour": 3, "weekday": "monday"}, "reason": "agreed with the board"},
    title="Versions on a schedule",
    request_only=True,
)
_KEPT = example(
    {"retention_days": 90, "reason": "as we told the participants"},
    title="Check-ins kept for 90 days",
    request_only=True,
)


class Datasets(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    query = {"GET": _PAGES["GET"] | {_SEARCH}}

    @extend_schema(
        operation_id="datasets_list",
        parameters=[*PAGING, _SEARCH_PARAMETER],
        responses=answers(200, page_of(DatasetOut), 404),
    )
    def get(self, request: Request) -> Response:
        """The datasets you are a member of; for an administrator all of them."""
        rows = queries.datasets_of(person(request), _search(request))
        return pagination.page(request, rows, lambda row: shown.dataset(request, row))

    @extend_schema(
        operation_id="datasets_create",
        request=DatasetIn,
        parameters=[LOCATION],
        examples=_EXAMPLES,
        responses=answers(201, DatasetOut, 413, 415, 422),
    )
    def post(self, request: Request) -> Response:
        """Make a dataset; you become its steward. Relation, region and radius are for good."""
        made = datasets.create(person(request), _new_dataset(body(request, DatasetIn)))
        answer = shown.dataset(request, made)
        return Response(answer, 201, headers={"Location": answer["links"]["self"]})


class Dataset(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}

    @extend_schema(operation_id="datasets_read", responses=answers(200, DatasetOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """A dataset's public facts."""
        return Response(shown.dataset(request, dataset_for(request.user, slug)))

    @extend_schema(
        operation_id="datasets_change",
        request=DatasetChangeIn,
        examples=[_WEEKLY, _KEPT],
        responses=answers(200, DatasetOut, 404, 413, 415, 422),
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change when data versions advance, or for how many days check-ins are kept, with a reason, which
        goes into the ledger. What is not named stays."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        typed = body(request, DatasetChangeIn)
        if "schedule" in typed:
            typed["schedule"] = _schedule(typed["schedule"])
        datasets.change(request.user, found, **typed)
        return Response(shown.dataset(request, dataset_for(request.user, slug)))


class Versions(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    query = _PAGES

    @extend_schema(operation_id="versions_list", parameters=PAGING, responses=answers(200, VersionsOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """Data versions, the latest first, and when the schedule makes the next one."""
        found = dataset_for(request.user, slug)
        page = pagination.page(request, queries.versions_of(found), lambda row: VersionOut(row).data)
        rule = {"schedule": shown.schedule(found), "next_version_at": found.next_version_at}
        return Response(page.data | rule)

    @extend_schema(
        operation_id="versions_advance", request=None, responses=answers(201, VersionOut, 404, 409, 413, 415)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Advance the version: releases from now on read every upload that is ready. Takes no body.

        Refused (409, `scheduled`) where a public schedule advances the versions."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        body(request, Strict)
        return Response(VersionOut(uploads.advance(request.user, found)).data, 201)


def _new_dataset(typed: dict[str, object]) -> NewDataset:
    given = dict(typed)
    bbox, limits, schedule = given.pop("bbox"), given.pop("limits"), given.pop("schedule", None)
    return NewDataset(
        schedule=_schedule(schedule),
        region=Region(*bbox),  # type: ignore[misc]  # four numbers, as its field checked
        limits={AccountKind(kind): text for kind, text in limits.items()},  # type: ignore[attr-defined]
        **given,  # type: ignore[arg-type]
    )


def _schedule(typed: object) -> Schedule | None:
    return Schedule(**typed) if isinstance(typed, dict) else None


def _search(request: Request) -> str:
    text = request.query_params.get(_SEARCH, "")
    if len(text) > LONGEST_SEARCH or "\0" in text:
        raise ValidationError({_SEARCH: f"at most {LONGEST_SEARCH} characters"})
    return text
