"""Splits long lists into pages."""

from typing import Final, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

ROWS: Final = 20
CARDS: Final = 12  # three screens of a telephone

Row = TypeVar("Row", bound=Model)


def page_of(request: HttpRequest, rows: QuerySet[Row], name: str, *, size: int = ROWS) -> Page[Row]:
    """Returns the part of `rows` that the query parameter `name` asks for; the nearest one when it does not
    exist."""
    return Paginator(rows, size).get_page(request.GET.get(name))
