"""The ledger's events, a page at a time or as a file."""

import re
from datetime import date
from typing import Final

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers as shown
from api import pagination
from api.schema import ALWAYS, PAGING, answers, page_of, problems
from api.serializers.ledger import EventOut
from api.views.shared import ApiView
from heatmaps import queries
from heatmaps.access import Act, dataset_for, may
from heatmaps.ledger.reading import Selection
from heatmaps.ledger_files import CONTENT_TYPES, file_of
from heatmaps.models import Scope
from heatmaps.wording.events import TITLES

_KIND: Final = "kind"
_PLAIN_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_PERSON: Final = "person"
_DAY: Final = "day"
_FILTERS: Final = [
    OpenApiParameter(_KIND, enum=list(TITLES), description="Only events of this kind."),
    OpenApiParameter(_PERSON, description="Only what this person did, by username."),
    OpenApiParameter(_DAY, OpenApiTypes.DATE, description="Only this day, UTC."),
]
_SUFFIX: Final = OpenApiParameter("suffix", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(CONTENT_TYPES))


class Ledger(ApiView):
    scopes = {"GET": Scope.READ}
    query = {"GET": frozenset({pagination.PAGE, pagination.PAGE_SIZE, _KIND, _PERSON, _DAY})}

    @extend_schema(
        operation_id="ledger_list",
        parameters=[*PAGING, *_FILTERS],
        responses=answers(200, page_of(EventOut), 404),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Events in their order, the first one first, so that pages stay as they are while it grows."""
        found = dataset_for(request.user, slug, Act.READ_LEDGER)
        sees_data = may(request.user, found, Act.SEE_DATA)
        rows = queries.events_of(found, sees_data=sees_data, selection=_selection(request))
        return pagination.page(
            request, rows.order_by("sequence"), lambda row: shown.event(request, found, row)
        )


class LedgerFile(ApiView):
    scopes = {"GET": Scope.READ}

    @extend_schema(
        operation_id="ledger_file",
        parameters=[_SUFFIX],
        responses={
            (200, "application/json"): OpenApiResponse({"type": "array", "items": {"type": "object"}}),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR),
        }
        | problems(*ALWAYS, 404),
    )
    def get(self, request: Request, slug: str, suffix: str) -> StreamingHttpResponse:
        """The whole chain: for stewards all that its hashes cover, so that they can be recomputed.

        The hash of an event is the SHA-256 of the JSON object of `actor`, `after`, `at_microseconds`,
        `before`, `dataset`, `kind`, `previous_hash`, `release`, `salt` (not where it is null) and `sequence`
        with sorted keys, no blanks, ASCII. Others get minutes, and hashes to keep.
        """
        found = dataset_for(request.user, slug, Act.READ_LEDGER)
        return file_of(found, suffix, sees_data=may(request.user, found, Act.SEE_DATA))


def _selection(request: Request) -> Selection:
    kind = request.query_params.get(_KIND)
    if kind is not None and kind not in TITLES:
        raise ValidationError({_KIND: f"one of these is expected here: {', '.join(TITLES)}"})
    return Selection(kind=kind or "", person=request.query_params.get(_PERSON, ""), day=_day(request))


def _day(request: Request) -> date | None:
    text = request.query_params.get(_DAY)
    if text is None:
        return None
    try:
        if not _PLAIN_DAY.fullmatch(text):  # `fromisoformat` reads "20260331" and week days, too
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValidationError({_DAY: "a day such as 2026-03-31 is expected here"}) from None
