"""Receives uploads and check-ins; answers hold private data, for stewards only."""

import csv
import io
from collections.abc import Sequence
from typing import Any, BinaryIO, Final
from uuid import UUID

from django.conf import settings
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.parsers import FILE_TYPES, NDJSON, FileForm, NdjsonFile, RawFile, StrictJson
from api.refusals import TooLarge
from api.schema import LOCATION, example, listing, operation
from api.serializers.uploads import FileIn, UploadOut, UploadsOut, checkins_in
from api.views.shared import ApiView, one_of
from heatmaps import queries
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.ingest import uploads
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.options import Options
from heatmaps.ingest.receiving import MOST_FILES
from heatmaps.ingest.upload_files import NAME_LENGTH, shown_name
from heatmaps.masses import column_copies
from heatmaps.models import Dataset, Scope, Upload, UploadState
from heatmaps.people.permissions import Act, dataset_for
from mechanisms.check import printable

FORM_BYTES: Final = 64 * 1024  # what a form takes beside its file
_NAME: Final = "name"
_ADVANCE: Final = "advance"
_OPTIONS: Final = {
    "columns": "The file's columns where they are not called user, time, lat, lon: `user=uid,lat=latitude`.",
    "time_zone": "IANA time zone for times without an offset; default UTC.",
    "max_rejected": "Largest percentage of invalid rows; above it nothing is stored.",
}
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
    _STATE, {"type": "string", "enum": UploadState.values}, description="Only uploads in this state."
)
_UPLOADED = PolymorphicProxySerializer(
    component_name="Uploaded", serializers=[UploadOut, UploadsOut], resource_type_field_name=None
)
_CHECKINS = example(
    [{"user": "u1", "time": "2025-03-01T08:30:00Z", "lat": 30.27, "lon": -97.74}],
    media_type="application/json",
)


@takes_up_to(lambda: settings.MAX_UPLOAD_BYTES + FORM_BYTES)
class UploadsView(ApiView):
    scopes = {"GET": Scope.STEWARD, "POST": Scope.STEWARD}
    parser_classes = [FileForm, RawFile]

    @listing("uploads_list", UploadOut, _STATE_PARAMETER)
    def get(self, request: Request, slug: str) -> Response:
        """List uploads, latest first."""
        dataset = dataset_for(request.user, slug, Act.SEE_DATA)
        rows = queries.uploads_of(dataset, state=one_of(request, _STATE, UploadState.values))
        return pagination.page(request, rows, lambda row: answers.upload(request, row))

    @operation(
        "uploads_create",
        _UPLOADED,
        (404, 409, 422, 503),
        status=201,
        parameters=[*_PARAMETERS, LOCATION],
        request={"multipart/form-data": FileIn} | dict.fromkeys(FILE_TYPES, OpenApiTypes.BINARY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file of check-ins. CSV, NDJSON, Parquet or SNAP, gzip or not, as a form with one `file` or
        as the body itself. It is read in the background; the answer's address shows the progress.

        A form with several files is answered with an upload or a refusal for each; those taken become
        available in one data version. In all files equal `user` is the same person."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        _check_length(request)
        given_name, advance = _given_name(request), _advance(request)
        options = Options.parse(**{name: request.query_params.get(name, "") for name in _OPTIONS})
        file = request.data
        if isinstance(file, dict):  # also where there is no body at all
            file, *more = _form_files(request)
            if more:
                return _receive_all(request, dataset, [file, *more], advance=advance, options=options)
        name = given_name or getattr(file, "name", None) or "upload"
        return _receive(request, dataset, file, name=name, advance=advance, options=options)


class UploadView(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @operation("uploads_read", UploadOut, (404,))
    def get(self, request: Request, upload_id: UUID) -> Response:
        """Show an upload's progress and accepted rows."""
        return Response(answers.upload(request, queries.upload_for(request.user, upload_id)))


class RejectedRowsView(ApiView):
    scopes = {"GET": Scope.STEWARD}

    @operation("uploads_rejected", {(200, "text/csv"): OpenApiTypes.BINARY}, (404,))
    def get(self, request: Request, upload_id: UUID) -> FileResponse:
        """Download rejected rows. By row number and reason; kept for 7 days."""
        rows = uploads.rejected_rows(queries.upload_for(request.user, upload_id))
        if rows is None:
            raise Http404("this upload has no rejected rows, or their list is older than 7 days")
        name = f"rejected-rows-{upload_id}.csv"
        return FileResponse(rows, as_attachment=True, filename=name, content_type="text/csv")


class UndoUploadView(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @operation("uploads_undo", UploadOut, (404, 409))
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Undo an upload. Only before a data version includes it. Takes no body."""
        uploads.undo(request.user, queries.upload_for(request.user, upload_id))
        return Response(answers.upload(request, queries.upload_for(request.user, upload_id)))


class CopyAgainView(ApiView):
    scopes = {"POST": Scope.STEWARD}

    @operation("uploads_copy", UploadOut, (404, 409))
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Retry the failed copy of an upload. Takes no body."""
        column_copies.try_again(request.user, queries.upload_for(request.user, upload_id))
        return Response(answers.upload(request, queries.upload_for(request.user, upload_id)))


@takes_up_to(lambda: settings.MAX_UPLOAD_BYTES + FORM_BYTES)
class CheckinsView(ApiView):
    scopes = {"POST": Scope.STEWARD}
    parser_classes = [StrictJson, NdjsonFile]

    @operation(
        "checkins_create",
        UploadOut,
        (404, 409, 422, 503),
        status=201,
        parameters=[_ADVANCE_PARAMETER, LOCATION],
        request={"application/json": checkins_in(), NDJSON: OpenApiTypes.BINARY},
        examples=[_CHECKINS],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send check-ins as JSON or NDJSON. They become an upload."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        _check_length(request)
        advance, content = _advance(request), request.data
        file = content if hasattr(content, "read") else _table(content)
        return _receive(request, dataset, file, name="check-ins", advance=advance, options=Options())


def _receive(
    request: Request, dataset: Dataset, file: Any, *, name: str, advance: bool, options: Options
) -> Response:
    upload = uploads.receive(request.user, dataset, file, name=name, advance=advance, options=options)
    answer = answers.upload(request, Upload.objects.get(pk=upload.pk))
    return Response(answer, 201, headers={"Location": answer["links"]["self"]})


def _receive_all(
    request: Request, dataset: Dataset, files: Sequence[Any], *, advance: bool, options: Options
) -> Response:
    """Receives several files. Errors: the first refusal, where no file was taken."""
    named_files = [(file, file.name or "upload") for file in files]
    outcomes = uploads.receive_all(request.user, dataset, named_files, advance=advance, options=options)
    refusals = [
        {"file_name": shown_name(name), "code": outcome.code, "detail": str(outcome)}
        for (_, name), outcome in zip(named_files, outcomes, strict=True)
        if isinstance(outcome, UploadError)
    ]
    if len(refusals) == len(outcomes):
        raise next(outcome for outcome in outcomes if isinstance(outcome, UploadError))
    rows = [Upload.objects.get(pk=outcome.pk) for outcome in outcomes if isinstance(outcome, Upload)]
    return Response({"results": [answers.upload(request, row) for row in rows], "refused": refusals}, 201)


def _check_length(request: Request) -> None:
    """Refuses what is too large before a byte of the body is read."""
    if body_length(request) > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
        raise TooLarge(settings.MAX_UPLOAD_BYTES)


def _given_name(request: Request) -> str:
    name = request.query_params.get(_NAME, "")
    if len(name) > NAME_LENGTH:
        raise ValidationError({_NAME: f"at most {NAME_LENGTH} characters"})
    return name


def _advance(request: Request) -> bool:
    return one_of(request, _ADVANCE, ("true", "false"), default="true") == "true"


def _form_files(request: Request) -> list[Any]:
    for name in request.data:
        if name != "file":
            raise ValidationError({printable(name): "unknown field"})
    if not request.content_type.startswith("multipart/"):
        raise UploadError("empty", "the body has no file")
    files = request.FILES.getlist("file")
    if not files:  # also where the field holds a text
        raise UploadError("empty", "the form's field file has no file")
    if len(files) > MOST_FILES:
        raise ValidationError({"file": f"expected 1 to {MOST_FILES} files"})
    return list(files)


def _table(content: object) -> BinaryIO:
    """Returns the rows as the CSV that an uploaded file would have held."""
    if content == {}:  # also where there is no body at all
        raise UploadError("empty", "the body has no check-ins")
    rows = checkins_in(content)
    rows.is_valid(raise_exception=True)
    if not rows.validated_data:
        raise UploadError("empty", "the list has no check-ins")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("user", "time", "lat", "lon"))
    for row in rows.validated_data:
        writer.writerow((row["user"], row.get("time") or "", repr(row["lat"]), repr(row["lon"])))
    return io.BytesIO(text.getvalue().encode())
