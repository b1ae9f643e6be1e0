"""Describes operations in the OpenAPI document."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from api.errors import PROBLEM_JSON
from api.pagination import MOST_ROWS, PAGE, PAGE_SIZE, ROWS
from api.serializers.fields import PageOut
from api.serializers.problems import ProblemOut

MEANINGS: Final = {
    400: "The body or a parameter does not have the described form.",
    401: "No token, a revoked one, or wrong credentials.",
    403: "Your role, or the token's scope, does not allow this.",
    404: "It does not exist, or you are not a member of its dataset.",
    409: "Not possible now; `budget_exceeded` and `allowance_exceeded` say what is missing.",
    412: "The budget changed since you read it.",
    413: "The body is too large.",
    415: "This content type is not accepted.",
    422: "The form is right, but a value is not allowed; `errors` says which.",
    428: "`If-Match` is missing.",
    429: "Too many requests, or a second quote while one is planned (`one_quote_at_a_time`); `Retry-After` "
    "says when to try again.",
    503: "The database does not answer (`unavailable`), the server lacks the dataset's key or cannot use its "
    "file of tables in lakes (`sources_file`), or it is as "
    "busy as it may be (`busy`, `planning_takes_long`); `Retry-After` says when to try again. Or it, or the "
    "dataset, is on hold after a restore (`on_hold`) until its operator, or a steward, said what to do.",
}
ALWAYS: Final = (400, 401, 403, 429, 503)

OPEN: Final[list[Any]] = [{"bearer": []}, {}]  # what is public needs no token

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
_SENTENCE_END: Final = re.compile(r"\.(?:\s+|$)")


class OperationSchema(AutoSchema):
    """Takes the first sentence of a method's docstring as summary, the others as description."""

    def get_summary(self) -> str:
        return self._sentences()[0]

    def get_description(self) -> str:  # type: ignore[override]  # stubs tell that of REST framework
        return self._sentences()[1]

    def _get_request_for_media_type(self, serializer: Any, direction: str = "request") -> tuple[Any, bool]:
        # The library, which has no types here, asks for a body only where one of its fields is needed.
        schema, needed = super()._get_request_for_media_type(serializer, direction)  # type: ignore[no-untyped-call]
        return schema, needed or getattr(serializer, "fewest", 0) > 0

    def _sentences(self) -> tuple[str, str]:
        text: str = super().get_description()
        summary, *rest = _SENTENCE_END.split(text, maxsplit=1)
        return " ".join(summary.split()), "".join(rest)


Method = TypeVar("Method", bound=Callable[..., Any])


def operation(
    name: str,
    answer: Any,
    refusals: Sequence[int] = (),
    *,
    status: int = 200,
    parameters: Sequence[OpenApiParameter] = (),
    request: Any = None,
    **described: Any,
) -> Callable[[Method], Method]:
    """Describes what a view's method takes and answers; `ApiView` refuses query parameters not named here.

    answer: a body, or bodies by status (and media type).
    refusals: beside those of every operation, and of every one with a body.
    """
    success = answer if isinstance(answer, Mapping) else {status: answer}
    of_body = () if request is None else (413, 415)
    responses = {**success, **problems(*ALWAYS, *of_body, *refusals)}
    describe = extend_schema(
        operation_id=name, parameters=[*parameters], request=request, responses=responses, **described
    )

    def mark(method: Method) -> Method:
        marked: Any = describe(method)
        marked.query = frozenset(
            parameter.name for parameter in parameters if parameter.location == OpenApiParameter.QUERY
        )
        return method

    return mark


def listing(
    name: str, row: type[serializers.Serializer[Any]], *filters: OpenApiParameter, **described: Any
) -> Callable[[Method], Method]:
    """Describes a method that answers a page of rows."""
    return operation(name, page_of(row), (404,), parameters=[*PAGING, *filters], **described)


def gone(says: str = "") -> dict[int, OpenApiResponse]:
    """Describes an answer without a body."""
    return {204: OpenApiResponse(None, says)}


def problems(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    return {
        (status, PROBLEM_JSON): OpenApiResponse(ProblemOut, MEANINGS[status])
        for status in sorted(set(statuses))
    }


@cache
def page_of(row: type[serializers.Serializer[Any]]) -> Any:
    """Describes a page of rows."""
    return type(f"PageOf{row.__name__.removesuffix('Out')}", (PageOut,), {"results": row(many=True)})


def example(value: object, *, title: str = "Example", **options: Any) -> OpenApiExample:
    """Describes a request by one that works."""
    return OpenApiExample(title, value=value, request_only=True, **options)
