"""Parses request bodies: strict JSON, a form with files, or a raw file; nothing large is held in memory."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser

from api.refusals import TooLarge
from heatmaps.http.content_length import body_length

NDJSON: Final = "application/x-ndjson"
FILE_TYPES: Final = (
    "text/csv",
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
    "application/vnd.apache.parquet",
    NDJSON,
)


class StrictJson(BaseParser):
    """Reads RFC 8259 JSON in UTF-8 of at most `DATA_UPLOAD_MAX_MEMORY_SIZE` bytes.

    Refuses NaN, numbers beyond a float, names given twice and nesting deeper than Python follows.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        # Also where nothing says how long it is; what says so is refused before a byte of it is taken.
        if body_length((parser_context or {})["request"]) > most or len(body := stream.read(most + 1)) > most:
            raise TooLarge(most)
        try:
            return _read(body)
        except RecursionError:
            raise ParseError("the JSON is nested too deeply") from None
        except _TrapError as trap:
            raise ParseError(str(trap)) from None
        except ValueError:  # also an integer of more digits than Python converts
            raise ParseError(
                "the body is not valid JSON in UTF-8, or has a number that is too long"
            ) from None


class FileForm(MultiPartParser):
    """Reads `multipart/form-data`; its file goes to disk while it comes in (`FILE_UPLOAD_HANDLERS`)."""


class RawFile(BaseParser):
    """Hands the body, which is the file, on unread."""

    media_type = "*/*"
    types: tuple[str, ...] = FILE_TYPES

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        if (media_type or "").split(";")[0].strip().lower() not in self.types:
            raise UnsupportedMediaType(media_type or "none")
        return stream


class NdjsonFile(RawFile):
    """Takes one JSON object a line."""

    types = (NDJSON,)


class _TrapError(ValueError):
    """Refuses what Python would read but nobody means."""


class GeoJsonFile(RawFile):
    """Takes polygons (RFC 7946), for a child to read."""

    types = ("application/geo+json", "application/json")


def _read(body: bytes) -> Any:
    read = json.loads(body.decode(), parse_float=_finite, parse_constant=_constant, object_pairs_hook=_unique)
    if b"\\u" in body:
        json.dumps(read, ensure_ascii=False).encode()  # halves of characters are no text
    return read


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _TrapError("a number is too large; the largest has 308 digits before its point")
    return value


def _constant(text: str) -> None:
    raise _TrapError(f"{text} is not valid JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise _TrapError("an object has the same name twice")
    return names
