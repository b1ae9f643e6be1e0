"""Reads the query parameters of OGC API. Errors of all: ValidationError (400), which says what is allowed."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from mechanisms.check import printable

Box = tuple[float, float, float, float]  # west, south, east, north in degrees

_NUMBER: Final = r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,3})?"
_NUMBERS: Final = re.compile(
    rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*){{3}}(?:,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*)?", re.ASCII
)
_AXIS: Final = re.compile(
    rf"(Lat|Lon)\((?:({_NUMBER}|\*):({_NUMBER}|\*)|({_NUMBER}))\)", re.ASCII | re.IGNORECASE
)
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?", re.ASCII
)
_OPEN: Final = ("", "..")
_WHOLE: Final = re.compile(r"\d{1,1000}", re.ASCII)
_BOX_ALLOWED: Final = "west,south,east,north in degrees, south at most north; or six numbers with heights"
_SUBSET_ALLOWED: Final = "Lat(south:north),Lon(west:east) or Lat(one) in degrees, * for the map's own edge"
_TIME_ALLOWED: Final = "a date, or a date and time with its offset, or two of them as start/end, .. for none"
_DAY: Final = timedelta(days=1)


def box(query: Mapping[str, str]) -> Box | None:
    """Reads `bbox`: four numbers, or six of which two are heights; west may be above east, around the
    world."""
    text = query.get("bbox")
    if text is None:
        return None
    numbers = [float(part) for part in text.split(",")] if _NUMBERS.fullmatch(text) else []
    west, south, east, north = (
        numbers[:2] + numbers[-3:-1] if len(numbers) == 6 else numbers or [math.nan] * 4
    )
    if not (math.isfinite(west + east) and -90 <= south <= north <= 90):
        raise ValidationError({"bbox": f"{printable(text)} is not allowed; allowed: {_BOX_ALLOWED}"})
    return west, south, east, north


def subset(query: QueryDict, whole: Iterable[float]) -> Box | None:
    """Reads `subset`, or `bbox` in its place: the box of a coverage. whole: what an edge is that is left
    open."""
    text, bbox = ",".join(query.getlist("subset")), box(query)
    if "subset" not in query:
        if bbox is not None and bbox[0] > bbox[2]:
            raise ValidationError({"bbox": "allowed for a coverage: west at most east"})
        return bbox
    west, south, east, north = whole
    spans = {"lat": (south, north), "lon": (west, east)}
    parts = {match[1].lower(): (match[2] or match[4], match[3] or match[4]) for match in _AXIS.finditer(text)}
    is_read = ",".join(match[0] for match in _AXIS.finditer(text)) == text
    is_read = is_read and 0 < len(parts) == text.count("(")
    for axis, ends in parts.items():
        low, high = (own if end == "*" else float(end) for end, own in zip(ends, spans[axis], strict=True))
        spans[axis] = low, high
        is_read = is_read and math.isfinite(high - low) and low <= high
    if not is_read or bbox is not None:
        raise ValidationError(
            {"subset": f"{printable(text)} is not allowed; allowed: {_SUBSET_ALLOWED}, no bbox"}
        )
    (south, north), (west, east) = spans["lat"], spans["lon"]
    return west, south, east, north


def whole(query: Mapping[str, str], name: str, *, usual: int, least: int, most: int) -> int:
    """Reads a whole number; what is above the most is the most."""
    text = query.get(name, str(usual))
    if not _WHOLE.fullmatch(text) or int(text) < least:
        raise ValidationError(
            {name: f"{printable(text)} is not allowed; allowed: a whole number from {least} on"}
        )
    return min(int(text), most)


def meets(query: Mapping[str, str], since: int | None, until: int | None) -> bool:
    """Tells whether `datetime` is left out or meets a period, in epoch seconds; None: no bound."""
    text = query.get("datetime")
    if text is None:
        return True
    first, slash, last = text.partition("/")
    start = _moment(first, text)
    end = _moment(last, text, is_end=True) if slash else _moment(first, text, is_end=True)
    if (not slash and start is None) or (start is not None and end is not None and start > end):
        raise ValidationError({"datetime": f"{printable(text)} is not allowed; allowed: {_TIME_ALLOWED}"})
    is_before = until is not None and start is not None and start.timestamp() >= until
    is_after = since is not None and end is not None and end.timestamp() < since
    return not (is_before or is_after)


def _moment(text: str, interval: str, *, is_end: bool = False) -> datetime | None:
    """Reads a moment; None: open. A day ends with its last moment."""
    if text in _OPEN and "/" in interval:
        return None
    text = text.upper()  # t and z may be small
    try:
        read = datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
    except ValueError:  # the 30th of February
        read = None
    if read is None or read.year in (1, 9999):
        raise ValidationError({"datetime": f"{printable(interval)} is not allowed; allowed: {_TIME_ALLOWED}"})
    if "T" not in text:
        read = read.replace(tzinfo=UTC) + (_DAY - timedelta(microseconds=1) if is_end else timedelta())
    return read


def with_parameter(query: QueryDict, name: str, value: int) -> str:
    """Returns the same query with another value."""
    changed = query.copy()
    changed[name] = str(value)
    return changed.urlencode()
