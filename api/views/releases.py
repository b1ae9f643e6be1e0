"""Quotes and reserves releases, and serves their results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.permissions import HasScopeOrPublic, is_nobody
from api.refusals import TooMuch
from api.schema import LOCATION, OPEN, example, listing, operation
from api.serializers.releases import (
    LabelIn,
    NamedQuestionIn,
    QuotedQuestionIn,
    QuoteOut,
    ReleaseIn,
    ReleaseOut,
)
from api.throttles import FileThrottle, PublicThrottle, TokenThrottle
from api.views.shared import ApiView, body, one_of, person
from heatmaps import queries
from heatmaps.exports import release_files
from heatmaps.exports.content import HEAT, LAYERS
from heatmaps.http import caching, elsewhere
from heatmaps.ledger.errors import AllowanceExceeded, BudgetExceeded, UnboundedCharge
from heatmaps.maps.looks import LIGHT, LOOKS
from heatmaps.models import Dataset, Release, Scope
from heatmaps.people.permissions import Act, dataset_for, is_administrator, member_of, require
from heatmaps.releases import calibration, lifecycle, names, publication
from heatmaps.releases.epsilon import for_error, forecast, that_fits
from heatmaps.releases.idempotency_keys import LONGEST_KEY
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.releases.names import Label
from heatmaps.result_kinds import RESULT_KINDS, ResultKind
from heatmaps.wording.release_line import release_line
from mechanisms.check import ParameterError

_EXAMPLE = example(
    {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 256, "parameters": {"width": 20}}
)
_SLICE = example(
    {
        "mechanism": "sparse-emd",
        "epsilon": "0.5",
        "resolution": 256,
        "data_slice": {
            "since": "2026-03-01",
            "until": "2026-04-01T00:00:00Z",
            "rectangle": [-97.8, 30.2, -97.7, 30.3],
        },
    },
    title="A month in a rectangle of the region",
)
_POINT = example(
    {"mechanism": "exponential", "epsilon": "0.5", "parameters": {"spacing_m": "25"}},
    title="A central point, which has no resolution",
)
_SHUFFLED = example(
    {"mechanism": "sgdl-shuffle", "epsilon": "0.5", "delta": "0.000000001", "parameters": {"cell_m": "25"}},
    title="A central point by simulated shuffling, which also spends δ",
)
_WISH = example(
    {"mechanism": "adaptive", "error_m": "500", "resolution": 256},
    title="The least ε whose predicted error is at most 500 m",
)
_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Your own key, one a request. The same key and body get the same "
    "release, whatever happened in between.",
)
_LOOK: Final = OpenApiParameter(
    "look",
    {"type": "string", "enum": [*LOOKS], "default": LIGHT.name},
    description="Colours of a picture.",
)
_LAYER: Final = OpenApiParameter(
    "layer",
    {"type": "string", "enum": [*LAYERS], "default": HEAT},
    description="What the PNG of a map shows: heat, where the map has one, or squares as released.",
)
_PREVIEW_TITLES: Final = {"thumbnail": "thumbnail", "og-image": "preview picture"}
_SUFFIXES: Final[Mapping[str, Sequence[str]]] = {
    kind.stem: list(
        dict.fromkeys(
            [file_format.name for file_format in kind.formats.values()]
            + [file_format.download for file_format in kind.formats.values()]
            + [*release_files.SHEETS]
        )
    )
    for kind in RESULT_KINDS.values()
}


class QuotesView(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @operation(
        "quotes_create",
        QuoteOut,
        (404, 422),
        request=QuotedQuestionIn,
        examples=[_EXAMPLE, _SLICE, _POINT, _SHUFFLED, _WISH],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Quote a release. Gives its exact cost and predicted error; spends, reads and writes nothing."""
        dataset = dataset_for(request.user, slug, Act.RELEASE)
        asker = person(request)
        with calibration.for_person(asker.pk):
            question = _quoted_question(request, dataset)
            quoted = forecast.for_person(dataset, asker, lifecycle.quote(dataset, question))
            more = forecast.forecast(dataset, asker, quoted)
            fits = None if quoted.affordable else that_fits.largest_epsilon(dataset, asker, question)
        return Response(answers.quote(request, dataset, quoted, more, fits))


class ReleasesView(ApiView):
    scopes = {"GET": Scope.READ, "POST": Scope.RELEASE}

    @listing("releases_list", ReleaseOut)
    def get(self, request: Request, slug: str) -> Response:
        """List a dataset's releases, latest first."""
        dataset = dataset_for(request.user, slug)
        # Whoever is let in is a member, or an administrator.
        member = not is_administrator(request.user) or bool(member_of(request.user, [dataset.pk]))
        return pagination.page_at_once(
            request,
            queries.releases_of(dataset),
            lambda rows: answers.releases(request, [release_line(row, member=member) for row in rows]),
        )

    @operation(
        "releases_create",
        ReleaseOut,
        (404, 409, 422),
        status=202,
        parameters=[_KEY, LOCATION],
        request=NamedQuestionIn,
        examples=[_EXAMPLE, _SLICE, _POINT, _SHUFFLED],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a release. Its cost is taken at once; it is drawn in the background. The same question
        about the same data version gets its published answer again, free of charge."""
        with calibration.for_person(person(request).pk):
            return self._reserve(request, slug)

    def _reserve(self, request: Request, slug: str) -> Response:
        dataset = dataset_for(request.user, slug, Act.RELEASE)
        key, (question, label) = request.headers.get("Idempotency-Key"), _named_question(request)
        try:
            release = lifecycle.request_release(
                request.user, dataset, question, idempotency_key=key, label=label
            )
        except (AllowanceExceeded, BudgetExceeded, UnboundedCharge) as refusal:
            fits = that_fits.largest_epsilon(dataset, person(request), question)
            raise TooMuch(refusal, fits) from refusal
        answer = answers.release(request, release)
        return Response(answer, 202, headers={"Location": answer["links"]["self"]})


class ReleaseView(ApiView):
    scopes = {"GET": Scope.READ, "PATCH": Scope.STEWARD}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, PublicThrottle]

    @operation("releases_read", ReleaseOut, (404,), auth=OPEN)
    def get(self, request: Request, release_id: UUID) -> Response:
        """Show a release. It is queued, published, cancelled or no_result. A public one needs no token."""
        release = publication.readable_release(request.user, release_id)
        outsider = publication.is_outsider(request.user, release)
        answer = Response(answers.release(request, release, outsider=outsider))
        caching.mark(answer, request.user, release, by="Authorization")
        return answer

    @operation(
        "releases_change",
        ReleaseOut,
        (404, 409, 422),
        request=ReleaseIn,
        examples=[example({"public": True})],
    )
    def patch(self, request: Request, release_id: UUID) -> Response:
        """Make a release public, or hide it again. For stewards; the ledger keeps it as an event, but not
        whether everybody reads its name."""
        release = queries.release_for(request.user, release_id)
        require(request.user, release.dataset, Act.PUBLISH)
        with transaction.atomic():
            _change(person(request), release, body(request, ReleaseIn))
        return Response(answers.release(request, queries.release_for(request.user, release_id)))


class ReleaseNameView(ApiView):
    scopes = {"PATCH": Scope.RELEASE}

    @operation(
        "releases_rename",
        ReleaseOut,
        (404, 422),
        request=LabelIn,
        examples=[example({"name": "Nights in January", "note": "Between 22:00 and 06:00."})],
    )
    def patch(self, request: Request, release_id: UUID) -> Response:
        """Name a release. For whoever asked for it, and stewards; members read it at once, others once a
        steward shows it anew. What is left out stays."""
        release = queries.release_for(request.user, release_id)
        require(request.user, release.dataset, Act.RELEASE)
        now = {"name": release.name, "note": release.note}
        names.rename(request.user, release, Label(**now | body(request, LabelIn)))
        return Response(answers.release(request, release))


class CancelReleaseView(ApiView):
    scopes = {"POST": Scope.RELEASE}

    @operation("releases_cancel", ReleaseOut, (404, 409))
    def post(self, request: Request, release_id: UUID) -> Response:
        """Cancel your own queued release. Its charge comes back. Takes no body."""
        lifecycle.cancel(request.user, queries.release_for(request.user, release_id))
        return Response(answers.release(request, queries.release_for(request.user, release_id)))


class FileView(ApiView):
    """Serves a published release of one kind as a file."""

    scopes = {"GET": Scope.READ}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, FileThrottle]
    kind: ClassVar[ResultKind]

    def get(self, request: Request, release_id: UUID, suffix: str) -> HttpResponseBase:
        """Serve the file. `json` and `yaml` are the release sheet. A public release needs no token."""
        if not any(suffix in suffixes for suffixes in _SUFFIXES.values()):
            raise Http404("no such format")
        release = queries.published_for(request.user, release_id)
        release_files.check_kind(release, self.kind)
        look = one_of(request, _LOOK.name, LOOKS, default=LIGHT.name)
        layer = one_of(request, _LAYER.name, LAYERS, default=HEAT)
        file = release_files.download(release, suffix, look=look, layer=layer)
        answer = caching.answer(request, request.user, file, by="Authorization")
        if file.in_parts and is_nobody(request):  # for programs in pages of other websites
            elsewhere.show(answer)
        return answer


class PreviewView(ApiView):
    """Serves a small picture of a published release."""

    scopes = {"GET": Scope.READ}
    permission_classes = [HasScopeOrPublic]
    throttle_classes = [TokenThrottle, PublicThrottle]
    name: ClassVar[str]

    def get(self, request: Request, release_id: UUID) -> HttpResponseBase:
        """Serve the picture. A public release needs no token."""
        release = queries.published_for(request.user, release_id)
        look = one_of(request, _LOOK.name, LOOKS, default=LIGHT.name)
        file = release_files.preview(release, self.name, look=look)
        return caching.answer(request, request.user, file, by="Authorization")


def _preview_view(name: str, content_type: str) -> type[PreviewView]:
    """Makes the view of a small picture, as the API's document describes it."""
    describe = operation(
        f"releases_{name.replace('-', '_')}",
        {(200, content_type): OpenApiResponse(OpenApiTypes.BINARY, "The picture.")},
        (404,),
        auth=OPEN,
        parameters=[_LOOK],
        summary=f"Download the {_PREVIEW_TITLES[name]} of a release",
        description="Of a published release. A public one needs no token.",
    )
    view: type[PreviewView] = type(f"{name.title().replace('-', '')}Preview", (PreviewView,), {"name": name})
    return extend_schema_view(get=describe)(view)


def _file_view(kind: ResultKind) -> type[FileView]:
    """Makes the view of a kind's files, as the API's document describes it."""
    suffix = OpenApiParameter("suffix", OpenApiTypes.STR, OpenApiParameter.PATH, enum=_SUFFIXES[kind.stem])
    files = {}
    for file_format in kind.formats.values():
        content = OpenApiTypes.OBJECT if "json" in file_format.content_type else OpenApiTypes.BINARY
        files[200, file_format.content_type.split(";")[0]] = OpenApiResponse(content, "The file.")
    files[200, "application/zip"] = OpenApiResponse(OpenApiTypes.BINARY, "The file and its release sheet.")
    for content_type in release_files.SHEETS.values():
        files[200, content_type] = OpenApiResponse(OpenApiTypes.OBJECT, "The release sheet.")
    describe = operation(
        f"releases_{kind.stem}",
        files,
        (404, 422),
        auth=OPEN,
        parameters=[suffix, _LOOK, _LAYER],
        summary=f"Download {kind.published} as a file",
        description="`json` and `yaml` are its release sheet; a name with `.zip` has the sheet beside the "
        "file. A public release needs no token.",
    )
    view: type[FileView] = type(f"{kind.stem.title()}File", (FileView,), {"kind": kind})
    return extend_schema_view(get=describe)(view)


PREVIEWS: Final[Mapping[str, type[PreviewView]]] = {
    name: _preview_view(name, content_type) for name, (_, content_type) in release_files.PREVIEWS.items()
}
FILES: Final[Mapping[str, type[FileView]]] = {kind.stem: _file_view(kind) for kind in RESULT_KINDS.values()}


def _change(steward: User, release: Release, changes: Mapping[str, Any]) -> None:
    """Changes who may read it, and its name. Errors: as `publication.set_public` and `names.show`."""
    if "public" in changes:
        publication.set_public(steward, release, public=changes["public"])
    if changes.get("public_name") is not None:
        names.show(steward, release, Label(**changes["public_name"]))
    elif "public_name" in changes:
        names.hide(steward, release)


def _named_question(request: Request) -> tuple[ReleaseRequest, Label]:
    fields = body(request, NamedQuestionIn)
    label = Label(**{name: fields.pop(name) for name in ("name", "note") if name in fields})
    return _release_request(fields), label


def _release_request(fields: dict[str, Any]) -> ReleaseRequest:
    data_slice = fields.pop("data_slice", None) or {}
    return ReleaseRequest(**fields, **data_slice)


def _quoted_question(request: Request, dataset: Dataset) -> ReleaseRequest:
    """Reads the question. Errors: `ParameterError`, also without or with both of ε and a wished error."""
    fields = body(request, QuotedQuestionIn)
    error_m = fields.pop("error_m", None)
    if ("epsilon" in fields) == (error_m is not None):
        raise ParameterError("epsilon", fields.get("epsilon", "missing"), "either this or error_m")
    if error_m is None:
        return _release_request(fields)
    question = _release_request({**fields, "epsilon": "1"})
    return replace(question, epsilon=for_error.epsilon_for(dataset, question, error_m))
