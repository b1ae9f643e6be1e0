"""Helpers for what the OpenAPI document says of each operation."""

from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from api.errors import PROBLEM_JSON
from api.pagination import MOST_ROWS, PAGE, PAGE_SIZE, ROWS
from api.serializers.problems import ProblemOut

MEANINGS: Final = {
    400: "The body, or a parameter of the address, has not the shape described here.",
    401: "No token, a revoked one, or wrong credentials.",
    403: "Your role, or the token's scope, does not allow this.",
    404: "There is no such thing, or you are no member of its dataset.",
    409: "Refused in the present state; for `budget_exceeded` and `allowance_exceeded` with what is missing.",
    412: "The budget moved since you read it.",
    413: "The body is too large.",
    415: "This type of content is not taken here.",
    422: "Well formed, but a value is not allowed; `errors` says which.",
    428: "`If-Match` is missing.",
    429: "Too many requests; `Retry-After` says when to come again.",
    503: "The database does not answer (`unavailable`), or the server has not the dataset's key.",
}
ALWAYS: Final = (400, 401, 403, 429, 503)

PAGING: Final = [
    OpenApiParameter(
        PAGE,
        {"type": "integer", "minimum": 1, "maximum": 999_999_999, "default": 1},
        description="From 1.",
    ),
    OpenApiParameter(
        PAGE_SIZE,
        {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": ROWS},
        description="Rows a page.",
    ),
]
LOCATION: Final = OpenApiParameter(
    "Location", OpenApiTypes.URI, OpenApiParameter.HEADER, response=[201, 202], description="Its address."
)


def answers(status: int, body: Any, *refusals: int, says: str = "") -> dict[Any, Any]:
    """The answer of success and every refusal, those that every operation has included."""
    good = OpenApiResponse(body, says) if says else body
    return {status: good, **problems(*ALWAYS, *refusals)}


def problems(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    return {
        (status, PROBLEM_JSON): OpenApiResponse(ProblemOut, MEANINGS[status])
        for status in sorted(set(statuses))
    }


def page_of(row: type[serializers.Serializer[Any]]) -> Any:
    """A page of rows."""
    return inline_serializer(
        f"PageOf{row.__name__.removesuffix('Out')}",
        {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": row(many=True),
        },
    )


def example(value: object, *, title: str = "Example", **options: Any) -> OpenApiExample:
    return OpenApiExample(title, value=value, **options)
