"""Parses the slice of the data a question is about: a period, a rectangle of the region, or all of it.

The same slice has one spelling: whole seconds of UTC and finest grid lines, integers all of them. That is
what questions, events and rows carry; whatever is said of the slice follows from public facts, never from
data.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from mechanisms.check import ParameterError, exact_decimal
from mechanisms.space.grid import Region
from mechanisms.space.subregion import Rectangle

# As `moment` reads it; the API's document says so, too.
MOMENT_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.0{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$"
)
LONGEST_MOMENT: Final = 40  # characters
# What a predicted error takes for granted: how many persons a slice holds is not public.
ALL_IN_THE_SLICE: Final = (
    "Assumes that all these people have check-ins in the period and rectangle asked for; with fewer, the "
    "error is larger in proportion."
)
EDGES: Final = ("west", "south", "east", "north")
RECTANGLE: Final = "data_slice.rectangle"  # what a refusal names

Edge = str | float  # of a rectangle, in degrees


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSlice:
    """Names check-ins from `since` on and before `until`, in a rectangle of the region; None: no such bound.

    With either bound, check-ins without a time are left out: they are in no period.
    """

    since: int | None = None  # epoch seconds
    until: int | None = None  # epoch seconds
    rectangle: Rectangle | None = None

    @classmethod
    def parse(
        cls,
        region: Region,
        *,
        since: str | None = None,
        until: str | None = None,
        rectangle: Sequence[Edge] | None = None,
        resolution: int = 1,
    ) -> Self:
        """Reads the words of a question.

        since, until: as `moment`. rectangle: west, south, east, north in degrees; texts or numbers.
        resolution: cells a side that the rectangle has to hold. Errors: `ParameterError`.
        """
        first, end = moment("data_slice.since", since), moment("data_slice.until", until)
        if first is not None and end is not None and first >= end:
            raise ParameterError("data_slice.until", until, f"a moment after since ({moment_text(first)})")
        return cls(since=first, until=end, rectangle=_rectangle(region, rectangle, resolution))

    @classmethod
    def stored(cls, since: int | None, until: int | None, edges: Sequence[int] | None) -> Self:
        """Reads the columns of a release."""
        return cls(since=since, until=until, rectangle=None if edges is None else Rectangle(*edges))

    @property
    def has_period(self) -> bool:
        return self.since is not None or self.until is not None

    @property
    def edges(self) -> list[int] | None:
        """Returns the rectangle's edges as finest grid lines, as they are stored."""
        return None if self.rectangle is None else list(self.rectangle.edges)

    def facts(self) -> dict[str, int | list[int]]:
        """Returns its facts in a question: nothing of what it does not restrict."""
        # The names are hashed with questions: they stay, so that questions of old are still found.
        bounds = {"since": self.since, "until": self.until, "within": self.edges}
        return {name: value for name, value in bounds.items() if value is not None}

    def region(self, region: Region) -> Region:
        """Returns the region that its map covers."""
        return region if self.rectangle is None else self.rectangle.region(region)


WHOLE: Final = DataSlice()


def moment(parameter: str, text: str | None) -> int | None:
    """Reads epoch seconds of a date (midnight) or a date and time, in UTC where it names no other offset.

    None for None. Errors: `ParameterError`.
    """
    if text is None:
        return None
    fits = (
        isinstance(text, str) and len(text) <= LONGEST_MOMENT and re.fullmatch(MOMENT_PATTERN, text, re.ASCII)
    )
    try:
        read = datetime.fromisoformat(text) if fits else None
    except ValueError:  # the 30th of February
        read = None
    seconds = None if read is None else _epoch_seconds(read)
    if seconds is None or not _EARLIEST <= seconds <= _LATEST:
        raise ParameterError(parameter, text, _MOMENT_ALLOWED)
    return seconds


def moment_text(seconds: int) -> str:
    """Writes a moment as `moment` reads it back, in UTC."""
    return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat() + "Z"


def moment_or_none(seconds: int | None) -> str | None:
    return None if seconds is None else moment_text(seconds)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_LATEST: Final = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_MOMENT_ALLOWED: Final = (
    "a date such as 2026-03-01, or a date and time to the second such as 2026-03-01T18:30:00Z; UTC where no "
    "offset is named"
)
_BOX_ALLOWED: Final = "four numbers in degrees: west, south, east, north"


def _epoch_seconds(read: datetime) -> int:
    return ((read if read.tzinfo else read.replace(tzinfo=UTC)) - _EPOCH) // timedelta(seconds=1)


def _rectangle(region: Region, edges: Sequence[Edge] | None, resolution: int) -> Rectangle | None:
    """Reads a rectangle; None for the whole region, however it is said. Errors: `ParameterError`."""
    if edges is None:
        return None
    if isinstance(edges, str) or not isinstance(edges, Sequence) or len(edges) != len(EDGES):
        raise ParameterError(RECTANGLE, edges, _BOX_ALLOWED)
    west, south, east, north = (_edge(region, at, value) for at, value in enumerate(edges))
    try:
        rectangle = Rectangle.nearest(region, Region(west, south, east, north))
    except ParameterError as error:
        raise ParameterError(f"{RECTANGLE}.{error.parameter}", error.value, error.allowed) from None
    if rectangle.shorter_side < resolution:
        most = 1 << (rectangle.shorter_side.bit_length() - 1)
        allowed = f"at most {most} for so small a part of the region"
        raise ParameterError("resolution", resolution, allowed)
    return None if rectangle.is_whole else rectangle


def _edge(region: Region, at: int, value: Edge) -> float:
    """Reads the degrees of one edge, inside the region. Errors: `ParameterError`."""
    name = f"{RECTANGLE}.{EDGES[at]}"
    low, high = ((region.west, region.east), (region.south, region.north))[at % 2]
    # Doubles on both sides: the region's own edges, typed again, are the region's own edges.
    try:
        degrees = value if isinstance(value, float) else float(exact_decimal(name, value))
    except ParameterError:
        degrees = math.nan
    if not low <= degrees <= high:
        raise ParameterError(name, value, f"a number of degrees inside the region: {low} to {high}")
    return degrees
