"""Blurs a steward's file row by row; stores nothing and charges nothing."""

from typing import Any, BinaryIO, Final, cast

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.parsers import FILE_TYPES, RawFile
from api.refusals import TooLarge
from api.schema import operation
from api.throttles import BlurThrottle, TokenThrottle
from api.views.shared import ApiView, one_of, person
from heatmaps.blurring import download
from heatmaps.blurring.download import BlurQuestion
from heatmaps.http.content_length import body_length, takes_up_to
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for
from mechanisms.catalogue import local
from mechanisms.check import MAX_CHARACTERS

_NEEDED: Final = {
    "mechanism": f"One of {local.names()}.",
    "epsilon": "Loss of one report at the radius, a plain decimal.",
    "radius_m": "Whole metres at which the loss is epsilon.",
    "max_reports": "Most rows of one person; the promise covers this many.",
}
_OPTIONAL: Final = {
    "cell_m": "Largest size of reported cells in metres; default: from the radius.",
    "columns": "The file's columns where they are not called user, time, lat, lon: `user=uid,lat=latitude`.",
    "max_rejected": "Largest percentage of invalid rows; above it the file is refused.",
}
_FURTHER: Final = "further_rows"
_REFUSE, _LEAVE_OUT = "refuse", "leave-out"
_TEXT: Final = {"type": "string", "maxLength": MAX_CHARACTERS}
_PARAMETERS: Final = [
    OpenApiParameter(
        "mechanism",
        {"type": "string", "enum": [entry.name for entry in local.entries()]},
        required=True,
        description=_NEEDED["mechanism"],
    ),
    *(
        OpenApiParameter(name, _TEXT, required=True, description=text)
        for name, text in _NEEDED.items()
        if name != "mechanism"
    ),
    *(OpenApiParameter(name, OpenApiTypes.STR, description=text) for name, text in _OPTIONAL.items()),
    OpenApiParameter(
        _FURTHER,
        {"type": "string", "enum": [_REFUSE, _LEAVE_OUT], "default": _REFUSE},
        description="For a person with more than `max_reports` rows: refuse the file or leave rows out.",
    ),
]


@takes_up_to(lambda: download.MOST_BYTES)
class BlurredView(ApiView):
    scopes = {"POST": Scope.STEWARD}
    parser_classes = [RawFile]
    throttle_classes = [TokenThrottle, BlurThrottle]

    @operation(
        "blurred_create",
        {(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The rows and their statement.")},
        (404, 422),
        parameters=_PARAMETERS,
        request=dict.fromkeys(FILE_TYPES, OpenApiTypes.BINARY),
    )
    def post(self, request: Request, slug: str) -> FileResponse:
        """Blur each row of a file of check-ins. The body is the file, the answer a ZIP with `blurred.csv` and
        `statement.json`: the guarantee, the expected error and the least error any mechanism could have. Up
        to 20 MB and 200,000 rows, ten files a minute.

        The server sees the true places, so it is trusted. Nothing is stored and no budget is charged: if you
        pass the rows on, their loss adds to everything else released about these people."""
        dataset = dataset_for(request.user, slug, Act.UPLOAD)
        if body_length(request) > download.MOST_BYTES:
            raise TooLarge(download.MOST_BYTES)
        question, file = _question(request), request.data
        if not hasattr(file, "read"):  # no body at all
            raise UploadError("empty", "the body has no file")
        archive = download.blurred(person(request), dataset, question, cast(BinaryIO, file))
        name = f"{dataset.slug}-blurred.zip"
        return FileResponse(archive, as_attachment=True, filename=name, content_type="application/zip")


def _question(request: Request) -> BlurQuestion:
    query = request.query_params
    if missing := [name for name in _NEEDED if name not in query]:
        raise ValidationError(dict.fromkeys(missing, "this parameter is required"))
    further = one_of(request, _FURTHER, (_REFUSE, _LEAVE_OUT), default=_REFUSE)
    texts: dict[str, Any] = {name: query[name] for name in (*_NEEDED, *_OPTIONAL) if name in query}
    return BlurQuestion(leave_out=further == _LEAVE_OUT, **texts)
