"""Parses Content-Length and enforces the size that a view accepts."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.http import HttpRequest

MOST_BYTES: Final = "most_body_bytes"  # attribute of a view that takes more than others
ADMITTED: Final = "hazemap.admitted"  # in the environment of a request that was counted before its body came

View = TypeVar("View", bound=Callable[..., Any])


def body_length(request: HttpRequest) -> int:
    """Returns the bytes of the body; 0 where the header says nothing."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    return int(text) if text.isascii() and text.isdigit() else 0


def was_admitted(request: HttpRequest) -> bool:
    """Returns whether it was asked about before, when it had no body yet (`heatmaps.front.admission`)."""
    return bool(request.META.get(ADMITTED))


def takes_up_to(most: Callable[[], int]) -> Callable[[View], View]:
    """Makes a view, or a class of one, whose bodies may be larger than others': `most()` bytes."""

    def mark(view: View) -> View:
        setattr(view, MOST_BYTES, staticmethod(most))
        return view

    return mark
