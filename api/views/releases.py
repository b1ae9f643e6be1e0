"""Quotes, releases and their maps."""

from uuid import UUID

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import ALWAYS, LOCATION, PAGING, answers, example, page_of, problems
from api.serializers.releases import QuestionIn, QuoteOut, ReleaseOut
from api.views.shared import ApiView, body
from heatmaps import published, queries, releases
from heatmaps.access import Act, dataset_for
from heatmaps.exports import FORMATS, Format
from heatmaps.models import Scope
from heatmaps.releases import LONGEST_KEY, ReleaseRequest

_EXAMPLE = example(
    {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 256, "parameters": {"width": 20}},
    request_only=True,
)
_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Of your choice, one a request: sent again with the same body it is answered with the same "
    "release, whatever happened in between.",
)
_SUFFIXES = [suffix.removeprefix(".") for suffix in FORMATS] + [published.SHEET]
_SUFFIX = OpenApiParameter("suffix", OpenApiTypes.STR, OpenApiParameter.PATH, enum=_SUFFIXES)


def _content(known: Format) -> OpenApiTypes:
    return OpenApiTypes.OBJECT if "json" in known.content_type else OpenApiTypes.BINARY


class Quotes(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @extend_schema(
        operation_id="quotes_create",
        request=QuestionIn,
        examples=[_EXAMPLE],
        responses=answers(200, QuoteOut, 404, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """The exact cost and the predicted error of a release: nothing is spent, read or written."""
        found = dataset_for(request.user, slug, Act.RELEASE)
        return Response(shown.quote(request, found, releases.quote(found, _question(request))))


class Releases(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.RELEASE}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE})}

    @extend_schema(
        operation_id="releases_list", parameters=PAGING, responses=answers(200, page_of(ReleaseOut), 404)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Releases of the dataset, the latest first."""
        rows = queries.releases_of(dataset_for(request.user, slug)).select_related("dataset", "version")
        return pagination.page(request, rows, lambda row: shown.release(request, row))

    @extend_schema(
        operation_id="releases_create",
        request=QuestionIn,
        parameters=[_KEY, LOCATION],
        examples=[_EXAMPLE],
        responses=answers(202, ReleaseOut, 404, 409, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a release: its cost is taken at once, it is drawn in the background. The published answer
        to the same question about the same data version is given again, free of charge."""
        found = dataset_for(request.user, slug, Act.RELEASE)
        key = request.headers.get("Idempotency-Key")
        made = releases.request_release(request.user, found, _question(request), idempotency_key=key)
        answer = shown.release(request, made)
        return Response(answer, 202, headers={"Location": answer["links"]["self"]})


class Release(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(operation_id="releases_read", responses=answers(200, ReleaseOut, 404))
    def get(self, request: Request, release_id: UUID) -> Response:
        """A release: queued, published, cancelled, or no_result."""
        return Response(shown.release(request, queries.release_for(request.user, release_id)))


class CancelRelease(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @extend_schema(operation_id="releases_cancel", request=None, responses=answers(200, ReleaseOut, 404, 409))
    def post(self, request: Request, release_id: UUID) -> Response:
        """Give a queued release of your own up; its charge is given back. Takes no body."""
        releases.cancel(request.user, queries.release_for(request.user, release_id))
        return Response(shown.release(request, queries.release_for(request.user, release_id)))


class Heatmap(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="releases_heatmap",
        parameters=[_SUFFIX],
        responses={
            **{
                (200, known.content_type.split(";")[0]): OpenApiResponse(_content(known), "The file.")
                for known in FORMATS.values()
            },
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "The release sheet."),
            **problems(*ALWAYS, 404, 422),
        },
    )
    def get(self, request: Request, release_id: UUID, suffix: str) -> FileResponse:
        """A published release as a file; `json` is its release sheet."""
        if suffix not in _SUFFIXES:
            raise Http404("no such format")
        file = published.download(queries.published_for(request.user, release_id), suffix)
        return FileResponse(
            file.stream, as_attachment=True, filename=file.name, content_type=file.content_type
        )


def _question(request: Request) -> ReleaseRequest:
    return ReleaseRequest(**body(request, QuestionIn))
