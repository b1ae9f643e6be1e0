"""Uploads and check-ins. What is answered is data: for stewards only."""

import csv
import io
from collections.abc import Sequence
from typing import Any, BinaryIO, Final
from uuid import UUID

from django.conf import settings
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.parsers import FILE_TYPES, NDJSON, FileForm, NdjsonFile, RawFile, StrictJson
from api.refusals import TooLarge
from api.schema import ALWAYS, LOCATION, PAGING, answers, example, page_of, problems
from api.serializers.uploads import FileIn, UploadOut, UploadsOut, checkins_in
from api.views.shared import ApiView
from heatmaps import queries
from heatmaps.access import Act, dataset_for
from heatmaps.ingest import uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.files import NAME_LENGTH, shown_name
from heatmaps.ingest.options import Options
from heatmaps.ingest.receiving import MOST_FILES
from heatmaps.masses import packing
from heatmaps.models import Dataset, Scope, UploadState
from heatmaps.models import Upload as UploadRow
from mechanisms.check import shown as printable

FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file
_NAME: Final = "name"
_ADVANCE: Final = "advance"
_OPTIONS: Final = {
    "columns": "The file's columns where they are not called user, time, lat, lon: `user=uid,lat=latitude`.",
    "time_zone": "IANA name for times without an offset; UTC where not said.",
    "max_rejected": "Percentage of rows that may be no check-ins before nothing is stored.",
}
_KNOWN: Final = frozenset({_NAME, _ADVANCE, *_OPTIONS})
_ADVANCE_PARAMETER = OpenApiParameter(
    _ADVANCE,
    {"type": "string", "enum": ["true", "false"], "default": "true"},
    description="Make it available in a new data version once it is ready. Where a schedule advances the "
    "versions, the next one includes it, whatever is said here.",
)
_PARAMETERS: Final = [
    _ADVANCE_PARAMETER,
    OpenApiParameter(
        _NAME, {"type": "string", "maxLength": NAME_LENGTH}, description="A single file's name, for people."
    ),
    *(OpenApiParameter(name, OpenApiTypes.STR, description=text) for name, text in _OPTIONS.items()),
]
_STATE: Final = "state"
_STATE_PARAMETER = OpenApiParameter(
    _STATE, {"type": "string", "enum": UploadState.values}, description="Those in this state only."
)
_UPLOADED = PolymorphicProxySerializer(
    component_name="Uploaded", serializers=[UploadOut, UploadsOut], resource_type_field_name=None
)
_CHECKINS = example(
    [{"user": "u1", "time": "2025-03-01T08:30:00Z", "lat": 30.27, "lon": -97.74}],
    request_only=True,
    media_type="application/json",
)


class Uploads(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE, _STATE}), "POST": _KNOWN}
    parser_classes = [FileForm, RawFile]

    @extend_schema(
        operation_id="uploads_list",
        parameters=[*PAGING, _STATE_PARAMETER],
        responses=answers(200, page_of(UploadOut), 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Uploads, the latest first."""
        found = dataset_for(request.user, slug, Act.SEE_DATA)
        rows = queries.uploads_of(found, state=_state(request))
        return pagination.page(request, rows, lambda row: shown.upload(request, row))

    @extend_schema(
        operation_id="uploads_create",
        parameters=[*_PARAMETERS, LOCATION],
        request={"multipart/form-data": FileIn} | dict.fromkeys(FILE_TYPES, OpenApiTypes.BINARY),
        responses=answers(201, _UPLOADED, 404, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file of check-ins (CSV, NDJSON, Parquet, SNAP; gzip or not), as a form with one `file` or as
        the body itself. It is read in the background: the answer's address says how far it is.

        A form with several files is answered with an upload or a refusal for each; those taken become
        available in one data version. In all files equal `user` is the same person."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        _check_length(request)
        given_name, advance, options = _given_name(request), _advance(request), _options(request)
        file = request.data
        if isinstance(file, dict):  # also where there is no body at all
            file, *others = _form_files(request)
            if others:
                return _all_received(request, found, [file, *others], advance=advance, options=options)
        name = given_name or getattr(file, "name", None) or "upload"
        return _received(request, found, file, name=name, advance=advance, options=options)


class Upload(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @extend_schema(operation_id="uploads_read", responses=answers(200, UploadOut, 404))
    def get(self, request: Request, upload_id: UUID) -> Response:
        """How far an upload is, and what became of its rows."""
        return Response(shown.upload(request, queries.upload_for(request.user, upload_id)))


class RejectedRows(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @extend_schema(
        operation_id="uploads_rejected",
        responses={(200, "text/csv"): OpenApiTypes.BINARY, **problems(*ALWAYS, 404)},
    )
    def get(self, request: Request, upload_id: UUID) -> FileResponse:
        """The rows that were no check-ins, by number and reason; kept for 7 days."""
        path = uploads.rejected_rows_path(queries.upload_for(request.user, upload_id))
        if path is None:
            raise Http404("no rejected rows, or their list is older than 7 days")
        name = f"rejected-rows-{upload_id}.csv"
        return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="text/csv")


class UndoUpload(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @extend_schema(operation_id="uploads_undo", request=None, responses=answers(200, UploadOut, 404, 409))
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Take an upload back that no data version includes yet. Takes no body."""
        uploads.undo(request.user, queries.upload_for(request.user, upload_id))
        return Response(shown.upload(request, queries.upload_for(request.user, upload_id)))


class CopyAgain(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @extend_schema(operation_id="uploads_copy", request=None, responses=answers(200, UploadOut, 404, 409))
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Try the copy of an upload again that was given up. Takes no body."""
        packing.try_again(request.user, queries.upload_for(request.user, upload_id))
        return Response(shown.upload(request, queries.upload_for(request.user, upload_id)))


class Checkins(ApiView):
    scopes = {"POST": Scope.STEWARD}
    query = {"POST": frozenset({_ADVANCE})}
    parser_classes = [StrictJson, NdjsonFile]

    @extend_schema(
        operation_id="checkins_create",
        parameters=[_ADVANCE_PARAMETER, LOCATION],
        request={
            "application/json": checkins_in(),
            NDJSON: OpenApiTypes.BINARY,
        },
        examples=[_CHECKINS],
        responses=answers(201, UploadOut, 404, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send check-ins as a JSON list, or any number of them as NDJSON; they become an upload."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        _check_length(request)
        advance, sent = _advance(request), request.data
        file = sent if hasattr(sent, "read") else _table(sent)
        return _received(request, found, file, name="check-ins", advance=advance, options=Options())


def _received(
    request: Request, found: Dataset, file: Any, *, name: str, advance: bool, options: Options
) -> Response:
    made = uploads.receive(request.user, found, file, name=name, advance=advance, options=options)
    answer = shown.upload(request, UploadRow.objects.get(pk=made.pk))
    return Response(answer, 201, headers={"Location": answer["links"]["self"]})


def _all_received(
    request: Request, found: Dataset, files: Sequence[Any], *, advance: bool, options: Options
) -> Response:
    """Errors: the first refusal, where no file was taken."""
    sent = [(file, file.name or "upload") for file in files]
    taken = uploads.receive_all(request.user, found, sent, advance=advance, options=options)
    refusals = [
        {"file_name": shown_name(name), "code": one.code, "detail": str(one)}
        for (_, name), one in zip(sent, taken, strict=True)
        if isinstance(one, UploadError)
    ]
    if len(refusals) == len(taken):
        raise next(one for one in taken if isinstance(one, UploadError))
    rows = [UploadRow.objects.get(pk=one.pk) for one in taken if isinstance(one, UploadRow)]
    return Response({"results": [shown.upload(request, row) for row in rows], "refused": refusals}, 201)


def _state(request: Request) -> str:
    text = request.query_params.get(_STATE)
    if text is None:
        return ""
    if text not in UploadState.values:
        raise ValidationError({_STATE: f"one of {', '.join(UploadState.values)}"})
    return text


def _check_length(request: Request) -> None:
    """Too large is refused before a byte of the body is read."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    if text.isascii() and text.isdigit() and int(text) > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
        raise TooLarge(settings.MAX_UPLOAD_BYTES)


def _given_name(request: Request) -> str:
    name = request.query_params.get(_NAME, "")
    if len(name) > NAME_LENGTH:
        raise ValidationError({_NAME: f"at most {NAME_LENGTH} characters"})
    return name


def _advance(request: Request) -> bool:
    text = request.query_params.get(_ADVANCE, "true")
    if text not in ("true", "false"):
        raise ValidationError({_ADVANCE: "true or false"})
    return text == "true"


def _options(request: Request) -> Options:
    return Options.parse(**{name: request.query_params.get(name, "") for name in _OPTIONS})


def _form_files(request: Request) -> list[Any]:
    for name in request.data:
        if name != "file":
            raise ValidationError({printable(name): "there is no such field"})
    if not request.content_type.startswith("multipart/"):
        raise UploadError("empty", "there is no file in the body")
    sent = request.FILES.getlist("file")
    if not sent:  # also where the field holds a text
        raise UploadError("empty", "there is no file in the form's field file")
    if len(sent) > MOST_FILES:
        raise ValidationError({"file": f"1 to {MOST_FILES} files are expected here"})
    return list(sent)


def _table(sent: object) -> BinaryIO:
    """The rows as the CSV that an uploaded file would have held."""
    if sent == {}:  # also where there is no body at all
        raise UploadError("empty", "there are no check-ins in the body")
    rows = checkins_in(sent)
    rows.is_valid(raise_exception=True)
    if not rows.validated_data:
        raise UploadError("empty", "there are no check-ins in the list")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("user", "time", "lat", "lon"))
    for row in rows.validated_data:
        writer.writerow((row["user"], row.get("time") or "", repr(row["lat"]), repr(row["lon"])))
    return io.BytesIO(text.getvalue().encode())
