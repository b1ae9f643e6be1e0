"""Datasets and their versions."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import LOCATION, PAGING, answers, example, page_of
from api.serializers.datasets import DatasetIn, DatasetOut, VersionOut
from api.serializers.fields import Strict
from api.views.shared import ApiView, body, person
from heatmaps import datasets, queries
from heatmaps.access import Act, dataset_for
from heatmaps.datasets import NewDataset
from heatmaps.ingest import uploads
from heatmaps.models import AccountKind, Scope
from mechanisms.grid import Region

_PAGES = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}
_EXAMPLES = [
    example(
        {
            "slug": "austin",
            "title": "Austin, check-ins of 2025",
            "bbox": [-98.3, 29.8, -97.3, 31.0],
            "relation": "add_remove",
            "limits": {"presence": "1.0", "delta": "0"},
            "expected_persons": 5000,
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


class Datasets(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    query = _PAGES

    @extend_schema(
        operation_id="datasets_list", parameters=PAGING, responses=answers(200, page_of(DatasetOut), 404)
    )
    def get(self, request: Request) -> Response:
        """The datasets you are a member of; for an administrator all of them."""
        lines = queries.datasets_of(person(request))
        return pagination.page(request, lines, lambda line: shown.dataset(request, line.dataset))

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
    scopes = {"GET": Scope.READ}

    @extend_schema(operation_id="datasets_read", responses=answers(200, DatasetOut, 404))
    def get(self, request: Request, slug: str) -> Response:
        """A dataset's public facts."""
        return Response(shown.dataset(request, dataset_for(request.user, slug)))


class Versions(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.STEWARD}
    query = _PAGES

    @extend_schema(
        operation_id="versions_list", parameters=PAGING, responses=answers(200, page_of(VersionOut), 404)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Data versions, the latest first."""
        rows = queries.versions_of(dataset_for(request.user, slug))
        return pagination.page(request, rows, lambda row: VersionOut(row).data)

    @extend_schema(
        operation_id="versions_advance", request=None, responses=answers(201, VersionOut, 404, 413, 415)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Advance the version: releases from now on read every upload that is ready. Takes no body."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        body(request, Strict)
        return Response(VersionOut(uploads.advance(request.user, found)).data, 201)


def _new_dataset(typed: dict[str, object]) -> NewDataset:
    given = dict(typed)
    bbox, limits = given.pop("bbox"), given.pop("limits")
    return NewDataset(
        region=Region(*bbox),  # type: ignore[misc]  # four numbers, as its field checked
        limits={AccountKind(kind): text for kind, text in limits.items()},  # type: ignore[attr-defined]
        **given,  # type: ignore[arg-type]
    )
