"""Splits long lists into pages by `?page=` and `?page_size=`."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from django.core.paginator import EmptyPage, Paginator
from django.db.models import QuerySet
from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

PAGE, PAGE_SIZE = "page", "page_size"
ROWS: Final = 50
MOST_ROWS: Final = 200
_MOST_DIGITS: Final = 9


def page(
    request: Request,
    rows: QuerySet[Any] | Sequence[Any],
    show: type[Serializer[Any]] | Callable[[Any], object],
) -> Response:
    """Returns the page that was asked for, its rows shown one by one. Errors: as `page_at_once`."""
    if isinstance(show, type):
        return page_at_once(request, rows, lambda current: show(current, many=True).data)
    return page_at_once(request, rows, lambda current: [show(row) for row in current])


def page_at_once(
    request: Request,
    rows: QuerySet[Any] | Sequence[Any],
    show: Callable[[list[Any]], Sequence[object]],
) -> Response:
    """Returns the page that was asked for, its rows shown together. Errors: Http404 beyond the last one."""
    number = _whole(request, PAGE, 1, 10**_MOST_DIGITS - 1)
    pages = Paginator(rows, _whole(request, PAGE_SIZE, ROWS, MOST_ROWS))
    try:
        current = pages.page(number)
    except EmptyPage:
        raise Http404("no such page") from None
    return Response(
        {
            "count": pages.count,
            "next": _address(request, number + 1) if current.has_next() else None,
            "previous": _address(request, number - 1) if current.has_previous() else None,
            "results": show(list(current)),
        }
    )


def _whole(request: Request, name: str, usual: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return usual
    plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not plain or not 1 <= int(text) <= most:
        raise ValidationError({name: f"a whole number from 1 to {most}"})
    return int(text)


def _address(request: Request, number: int) -> str:
    query = request.query_params.copy()
    query[PAGE] = str(number)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
