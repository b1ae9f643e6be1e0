"""Serves one representation per address, whatever the `Accept` header of a request says."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneRepresentation(DefaultContentNegotiation):
    """Disregards an Accept header, as RFC 9110 section 12.5.1 allows."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        first: Any = next(iter(renderers))
        return first, first.media_type
