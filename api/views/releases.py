"""Quotes, releases and their maps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import FileResponse, Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.permissions import HasScopeOrPublic
from api.refusals import TooMuch
from api.schema import ALWAYS, LOCATION, PAGING, answers, example, page_of, problems
from api.serializers.releases import QuestionIn, QuotedQuestionIn, QuoteOut, ReleaseIn, ReleaseOut
from api.throttles import PublicThrottle, TokenThrottle
from api.views.shared import ApiView, body, person
from heatmaps import accuracy, caching, fitting, forecasts, publication, published, queries, releases
from heatmaps.access import Act, dataset_for, require
from heatmaps.exports import FORMATS_OF, Format
from heatmaps.exports.sheet import exact_text
from heatmaps.ledger.errors import AllowanceExceeded, BudgetExceeded, UnboundedCharge
from heatmaps.models import Dataset, Scope
from heatmaps.releases import LONGEST_KEY, ReleaseRequest
from mechanisms.catalogue import Kind
from mechanisms.check import ParameterError

_EXAMPLE = example(
    {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 256, "parameters": {"width": 20}},
    request_only=True,
)
_PART = example(
    {
        "mechanism": "sparse-emd",
        "epsilon": "0.5",
        "resolution": 256,
        "since": "2026-03-01",
        "until": "2026-04-01T00:00:00Z",
        "within": [-97.8, 30.2, -97.7, 30.3],
    },
    title="A month in a part of the region",
    request_only=True,
)
_POINT = example(
    {"mechanism": "exponential", "epsilon": "0.5", "parameters": {"spacing_m": "25"}},
    title="A central point, which has no resolution",
    request_only=True,
)
_SHUFFLED = example(
    {"mechanism": "sgdl-shuffle", "epsilon": "0.5", "delta": "0.000000001", "parameters": {"cell_m": "25"}},
    title="A central point by simulated shuffling, which spends δ, too",
    request_only=True,
)
_WISH = example(
    {"mechanism": "adaptive", "error_m": "500", "resolution": 256},
    title="The least ε whose predicted error is at most 500 m",
    request_only=True,
)
_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Of your choice, one a request: sent again with the same body it is answered with the same "
    "release, whatever happened in between.",
)
_OPEN: Final[list[Any]] = [{"bearer": []}, {}]  # a public release needs no token
_SUFFIXES: Final[Mapping[Kind, Sequence[str]]] = {
    kind: [*(suffix.removeprefix(".") for suffix in formats), published.SHEET]
    for kind, formats in FORMATS_OF.items()
}


def _content(known: Format) -> OpenApiTypes:
    return OpenApiTypes.OBJECT if "json" in known.content_type else OpenApiTypes.BINARY


def _described(kind: Kind) -> dict[str, Any]:
    """What the document says of the files of a kind."""
    suffix = OpenApiParameter("suffix", OpenApiTypes.STR, OpenApiParameter.PATH, enum=_SUFFIXES[kind])
    files = {
        (200, known.content_type.split(";")[0]): OpenApiResponse(_content(known), "The file.")
        for known in FORMATS_OF[kind].values()
    }
    sheet = {(200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "The release sheet.")}
    refusals = problems(*ALWAYS, 404, 422)
    return {"auth": _OPEN, "parameters": [suffix], "responses": {**files, **sheet, **refusals}}


class Quotes(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @extend_schema(
        operation_id="quotes_create",
        request=QuotedQuestionIn,
        examples=[_EXAMPLE, _PART, _POINT, _SHUFFLED, _WISH],
        responses=answers(200, QuoteOut, 404, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """The exact cost and the predicted error of a release: nothing is spent, read or written."""
        found = dataset_for(request.user, slug, Act.RELEASE)
        asker, asked = person(request), _quoted_question(request, found)
        quoted = forecasts.for_person(found, asker, releases.quote(found, asked))
        more = forecasts.forecast(found, asker, quoted)
        fits = "" if quoted.affordable else fitting.largest_epsilon(found, asker, asked)
        return Response(shown.quote(request, found, quoted, more, fits))


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
        examples=[_EXAMPLE, _PART, _POINT, _SHUFFLED],
        responses=answers(202, ReleaseOut, 404, 409, 413, 415, 422),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a release: its cost is taken at once, it is drawn in the background. The published answer
        to the same question about the same data version is given again, free of charge."""
        found = dataset_for(request.user, slug, Act.RELEASE)
        key, asked = request.headers.get("Idempotency-Key"), _question(request)
        try:
            made = releases.request_release(request.user, found, asked, idempotency_key=key)
        except (AllowanceExceeded, BudgetExceeded, UnboundedCharge) as refusal:
            fits = fitting.largest_epsilon(found, person(request), asked)
            raise TooMuch(refusal, fits) from refusal
        answer = shown.release(request, made)
        return Response(answer, 202, headers={"Location": answer["links"]["self"]})


class Release(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, PublicThrottle]

    @extend_schema(operation_id="releases_read", auth=_OPEN, responses=answers(200, ReleaseOut, 404))
    def get(self, request: Request, release_id: UUID) -> Response:
        """A release: queued, published, cancelled, or no_result. A public one needs no token."""
        found = publication.readable_release(request.user, release_id)
        outsider = publication.is_outsider(request.user, found)
        answer = Response(shown.release(request, found, outsider=outsider))
        caching.mark(answer, request.user, found, by="Authorization")
        return answer

    @extend_schema(
        operation_id="releases_change",
        request=ReleaseIn,
        examples=[example({"public": True}, request_only=True)],
        responses=answers(200, ReleaseOut, 404, 409, 413, 415, 422),
    )
    def patch(self, request: Request, release_id: UUID) -> Response:
        """Make a published release public, or hide it again. For stewards; an event of the ledger."""
        found = queries.release_for(request.user, release_id)
        require(request.user, found.dataset, Act.PUBLISH)
        asked = body(request, ReleaseIn)
        publication.set_public(person(request), found, public=asked["public"])
        return Response(shown.release(request, queries.release_for(request.user, release_id)))


class CancelRelease(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @extend_schema(operation_id="releases_cancel", request=None, responses=answers(200, ReleaseOut, 404, 409))
    def post(self, request: Request, release_id: UUID) -> Response:
        """Give a queued release of your own up; its charge is given back. Takes no body."""
        releases.cancel(request.user, queries.release_for(request.user, release_id))
        return Response(shown.release(request, queries.release_for(request.user, release_id)))


class _File(ApiView):
    """A published release of one kind as a file."""

    scopes = {"GET": Scope.READ}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, PublicThrottle]
    kind: ClassVar[Kind]

    def file(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        if not any(suffix in known for known in _SUFFIXES.values()):
            raise Http404("no such format")
        found = queries.published_for(request.user, release_id)
        published.check_kind(found, self.kind)
        file = published.download(found, suffix)
        answer = FileResponse(
            file.stream, as_attachment=True, filename=file.name, content_type=file.content_type
        )
        caching.mark(answer, request.user, found, by="Authorization")
        return caching.unless_known(request, answer, file.stream)


class Heatmap(_File):
    kind = "heatmap"

    @extend_schema(operation_id="releases_heatmap", **_described("heatmap"))
    def get(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        """A published map as a file; `json` is its release sheet. A public one needs no token."""
        return self.file(request, release_id, suffix)


class Point(_File):
    kind = "centroid"

    @extend_schema(operation_id="releases_point", **_described("centroid"))
    def get(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        """A published central point as a file; `json` is its release sheet, with the point in it. A public
        one needs no token."""
        return self.file(request, release_id, suffix)


class Zones(_File):
    kind = "zones"

    @extend_schema(operation_id="releases_zones", **_described("zones"))
    def get(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        """Published shares in zones as a file; `json` is its release sheet, with the zones and shares in it.
        A public one needs no token."""
        return self.file(request, release_id, suffix)


class Distances(_File):
    kind = "distances"

    @extend_schema(operation_id="releases_distances", **_described("distances"))
    def get(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        """Published mean distances as a file; `json` is its release sheet, with places and distances in it.
        A public one needs no token."""
        return self.file(request, release_id, suffix)


def _question(request: Request) -> ReleaseRequest:
    return ReleaseRequest(**body(request, QuestionIn))


def _quoted_question(request: Request, found: Dataset) -> ReleaseRequest:
    """Errors: `ParameterError`, also without or with both of ε and a wished error."""
    asked = body(request, QuotedQuestionIn)
    wished = asked.pop("error_m", None)
    if ("epsilon" in asked) == (wished is not None):
        raise ParameterError("epsilon", asked.get("epsilon", "missing"), "either this or error_m")
    if wished is None:
        return ReleaseRequest(**asked)
    question = ReleaseRequest(**asked, epsilon="1")
    return replace(question, epsilon=exact_text(accuracy.epsilon_for(found, question, wished)))
