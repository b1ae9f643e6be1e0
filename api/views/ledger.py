"""Serves a ledger's events, page by page or as a file."""

import re
from datetime import date
from typing import Final

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api import answers, pagination
from api.schema import listing, operation
from api.serializers.ledger import EventOut
from api.views.shared import ApiView, one_of
from heatmaps import queries
from heatmaps.http.ledger_download import CONTENT_TYPES, file_of
from heatmaps.ledger.reading import Selection
from heatmaps.models import Scope
from heatmaps.people.permissions import Act, dataset_for, may
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


class LedgerView(ApiView):
    scopes = {"GET": Scope.READ}

    @listing("ledger_list", EventOut, *_FILTERS)
    def get(self, request: Request, slug: str) -> Response:
        """List events, oldest first. So pages do not change while the ledger grows."""
        dataset = dataset_for(request.user, slug, Act.READ_LEDGER)
        rows = queries.events_of(dataset, selection=_selection(request))
        return pagination.page(
            request, rows.order_by("sequence"), lambda row: answers.event(request, dataset, row)
        )


class LedgerFileView(ApiView):
    scopes = {"GET": Scope.READ}

    @operation(
        "ledger_file",
        {
            (200, "application/json"): OpenApiResponse({"type": "array", "items": {"type": "object"}}),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR),
        },
        (404,),
        parameters=[_SUFFIX],
    )
    def get(self, request: Request, slug: str, suffix: str) -> StreamingHttpResponse:
        """Download the whole ledger. Stewards get everything its hashes cover, so they can recompute them.

        The hash of an event is the SHA-256 of the JSON object of `actor`, `after`, `at_microseconds`,
        `before`, `dataset`, `kind`, `previous_hash`, `release`, `salt` (not where it is null) and `sequence`
        with sorted keys, no blanks, ASCII. Others get minutes, and hashes to keep.
        """
        dataset = dataset_for(request.user, slug, Act.READ_LEDGER)
        return file_of(dataset, suffix, sees_data=may(request.user, dataset, Act.SEE_DATA))


def _selection(request: Request) -> Selection:
    kind, name = one_of(request, _KIND, TITLES), request.query_params.get(_PERSON, "")
    return Selection(kind=kind, person=name, day=_day(request))


def _day(request: Request) -> date | None:
    text = request.query_params.get(_DAY)
    if text is None:
        return None
    try:
        if not _PLAIN_DAY.fullmatch(text):  # `fromisoformat` reads "20260331" and week days, too
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ValidationError({_DAY: "expected a day such as 2026-03-31"}) from None
