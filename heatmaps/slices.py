"""Which part of the data a question is about: a period, a sub-rectangle of the region, or all of it.

The same part has one spelling: whole seconds of UTC and finest grid lines, integers all of them. That is what
questions, events and rows carry; whatever is said of the part follows from public facts, never from data.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from mechanisms.check import ParameterError, exact_decimal
from mechanisms.grid import Region
from mechanisms.part import Part

# As `moment` reads it; the API's document says so, too.
MOMENT_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.0{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$"
)
LONGEST_MOMENT: Final = 40  # characters
# What a predicted error takes for granted: how many persons a part holds is not public.
ALL_IN_THE_PART: Final = (
    "All these persons are taken to have check-ins in the part of the data that is asked about; with fewer, "
    "the error is larger in proportion."
)
EDGES: Final = ("west", "south", "east", "north")

Edge = str | float  # of a rectangle, in degrees


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Check-ins from `since` on and before `until`, in a part of the region; None: no such bound.

    With either bound, check-ins without a time are left out: they are in no period.
    """

    since: int | None = None  # epoch seconds
    until: int | None = None  # epoch seconds
    part: Part | None = None

    @classmethod
    def stored(cls, since: int | None, until: int | None, within: Sequence[int] | None) -> Self:
        """As the columns of a release hold it."""
        return cls(since=since, until=until, part=None if within is None else Part(*within))

    @property
    def has_period(self) -> bool:
        return self.since is not None or self.until is not None

    @property
    def within(self) -> list[int] | None:
        """The part's edges as finest grid lines, as they are stored."""
        part = self.part
        return None if part is None else [part.west, part.south, part.east, part.north]

    def facts(self) -> dict[str, int | list[int]]:
        """What a question says of it: nothing of what it does not restrict."""
        bounds = {"since": self.since, "until": self.until, "within": self.within}
        return {name: value for name, value in bounds.items() if value is not None}

    def region(self, region: Region) -> Region:
        """What its map covers."""
        return region if self.part is None else self.part.region(region)


WHOLE: Final = Slice()


def asked(
    region: Region,
    *,
    since: str | None = None,
    until: str | None = None,
    within: Sequence[Edge] | None = None,
    resolution: int = 1,
) -> Slice:
    """The part of the data that a question names in its own words.

    since, until: as `moment`. within: west, south, east, north in degrees; texts or numbers. resolution:
    cells a side that the part has to hold. Errors: `ParameterError`.
    """
    first, end = moment("since", since), moment("until", until)
    if first is not None and end is not None and first >= end:
        raise ParameterError("until", until, f"a moment after since ({moment_text(first)})")
    return Slice(since=first, until=end, part=_part(region, within, resolution))


def moment(parameter: str, text: str | None) -> int | None:
    """Epoch seconds of a date (midnight) or a date and time, in UTC where it names no other offset.

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
    """As `moment` reads it back, in UTC."""
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


def _part(region: Region, within: Sequence[Edge] | None, resolution: int) -> Part | None:
    """None for the whole region, however it is said."""
    if within is None:
        return None
    if isinstance(within, str) or not isinstance(within, Sequence) or len(within) != len(EDGES):
        raise ParameterError("within", within, _BOX_ALLOWED)
    west, south, east, north = (_edge(region, at, value) for at, value in enumerate(within))
    try:
        part = Part.nearest(region, Region(west, south, east, north))
    except ParameterError as error:
        raise ParameterError(f"within.{error.parameter}", error.value, error.allowed) from None
    if part.shorter_side < resolution:
        raise ParameterError("resolution", resolution, _resolution_allowed(part))
    return None if part.is_whole else part


def _edge(region: Region, at: int, value: Edge) -> float:
    """Degrees of one edge, inside the region."""
    name = f"within.{EDGES[at]}"
    low, high = ((region.west, region.east), (region.south, region.north))[at % 2]
    # Doubles on both sides: the region's own edges, typed again, are the region's own edges.
    try:
        degrees = value if isinstance(value, float) else float(exact_decimal(name, value))
    except ParameterError:
        degrees = math.nan
    if not low <= degrees <= high:
        raise ParameterError(name, value, f"a number of degrees inside the region: {low} to {high}")
    return degrees


def _resolution_allowed(part: Part) -> str:
    most = 1 << (part.shorter_side.bit_length() - 1)
    return f"at most {most} for so small a part of the region"
