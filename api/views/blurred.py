"""A file of a steward's own, blurred row by row: nothing is stored, and no budget is charged."""

from typing import Any, BinaryIO, Final, cast

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.parsers import FILE_TYPES, RawFile
from api.refusals import TooLarge
from api.schema import ALWAYS, problems
from api.throttles import BlurThrottle, TokenThrottle
from api.views.shared import ApiView, person
from heatmaps import blurred_files
from heatmaps.access import Act, dataset_for
from heatmaps.blurred_files import BlurQuestion
from heatmaps.bodies import body_length
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Scope
from mechanisms.check import MAX_CHARACTERS
from mechanisms.local import choices

_NEEDED: Final = {
    "mechanism": f"One of {choices.names()}.",
    "epsilon": "What one report costs at the radius, a plain decimal.",
    "radius_m": "Whole metres at which epsilon is the cost.",
    "max_reports": "Rows of one person, at most: what is promised is for so many.",
}
_OPTIONAL: Final = {
    "cell_m": "Size of the cells that are reported, at most, in metres; by the radius where not said.",
    "columns": "The file's columns where they are not called user, time, lat, lon: `user=uid,lat=latitude`.",
    "max_rejected": "Percentage of rows that may be no check-ins before the file is refused.",
}
_FURTHER: Final = "further_rows"
_REFUSE, _LEAVE_OUT = "refuse", "leave-out"
_TEXT: Final = {"type": "string", "maxLength": MAX_CHARACTERS}
_PARAMETERS: Final = [
    OpenApiParameter(
        "mechanism",
        {"type": "string", "enum": [entry.name for entry in choices.entries()]},
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
        description="Of a person with more rows than `max_reports`: refuse the file, or leave them out.",
    ),
]


class Blurred(ApiView):
    scopes = {"POST": Scope.STEWARD}
    query = {"POST": frozenset({*_NEEDED, *_OPTIONAL, _FURTHER})}
    parser_classes = [RawFile]
    throttle_classes = [TokenThrottle, BlurThrottle]

    @extend_schema(
        operation_id="blurred_create",
        parameters=_PARAMETERS,
        request=dict.fromkeys(FILE_TYPES, OpenApiTypes.BINARY),
        responses={
            (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The rows and their statement."),
            **problems(*ALWAYS, 404, 413, 415, 422),
        },
    )
    def post(self, request: Request, slug: str) -> FileResponse:
        """Send a file of check-ins as the body; each row's place comes back blurred by itself, in a ZIP with
        `blurred.csv` and `statement.json`, which has the guarantee, the expected error and the least that any
        mechanism could have. Up to 20 MB and 200,000 rows, ten files a minute.

        The server sees the true places, so it is trusted. Nothing is stored, and no budget is charged:
        whoever hands the rows on adds their loss to everything else that is released about these persons."""
        found = dataset_for(request.user, slug, Act.UPLOAD)
        if body_length(request) > blurred_files.MOST_BYTES:
            raise TooLarge(blurred_files.MOST_BYTES)
        question, file = _question(request), request.data
        if not hasattr(file, "read"):  # no body at all
            raise UploadError("empty", "there is no file in the body")
        made = blurred_files.blurred(person(request), found, question, cast(BinaryIO, file))
        name = f"{found.slug}-blurred.zip"
        return FileResponse(made, as_attachment=True, filename=name, content_type="application/zip")


def _question(request: Request) -> BlurQuestion:
    given = request.query_params
    if missing := [name for name in _NEEDED if name not in given]:
        raise ValidationError(dict.fromkeys(missing, "this parameter of the address is needed"))
    further = given.get(_FURTHER, _REFUSE)
    if further not in (_REFUSE, _LEAVE_OUT):
        raise ValidationError({_FURTHER: f"{_REFUSE} or {_LEAVE_OUT}"})
    texts: dict[str, Any] = {name: given[name] for name in (*_NEEDED, *_OPTIONAL) if name in given}
    return BlurQuestion(leave_out=further == _LEAVE_OUT, **texts)
