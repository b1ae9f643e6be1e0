"""Writes the API's own addresses into answers."""

from typing import Final
from uuid import UUID

from django.urls import reverse
from rest_framework.request import Request

_SLUG: Final = "any-row-of-a-list"
_ID: Final = UUID(int=0)


class Addresses:
    """Writes absolute addresses for one request.

    Each pattern is reversed once, as lists have a dozen addresses a row that differ by the row's name alone:
    its slug or its id, which an address holds as they are.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._patterns: dict[tuple[object, ...], tuple[str, str]] = {}

    def __call__(self, page: str, row: str | UUID, *arguments: str | UUID) -> str:
        """Returns the address of a page about a row. arguments: what else the page's pattern takes."""
        any_row = _ID if isinstance(row, UUID) else _SLUG
        key = (page, any_row, *arguments)
        if key not in self._patterns:
            path = reverse(f"api:{page}", args=(any_row, *arguments))
            before, _, behind = self._request.build_absolute_uri(path).rpartition(str(any_row))
            self._patterns[key] = (before, behind)
        before, behind = self._patterns[key]
        return f"{before}{row}{behind}"
