"""Finds which columns of a file hold a check-in."""

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.formats import row_values
from heatmaps.ingest.formats.lines import ReaderError
from heatmaps.ingest.formats.row_values import is_text
from heatmaps.ingest.options import FIELDS, Options

EXPECTED_HEADER: Final = (
    "expected a first line with the columns user, lat, lon and optionally time, in any order, "
    "or a choice of columns"
)

Record = list[str]
Values = tuple[list[str], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPositions:
    """Holds where the columns are. `values` converts many rows at once and fails if any is bad."""

    user: int
    time: int | None
    lat: int
    lon: int
    zone: tzinfo = UTC  # of times without an offset

    @classmethod
    def of_names(cls, names: Record, options: Options) -> Self:
        """Finds the columns. Errors: `ReaderError` when a column is missing or there twice."""
        user, time, lat, lon = (_position(field, names, options) for field in FIELDS)
        if user is None or lat is None or lon is None:
            raise ReaderError("header", f"{EXPECTED_HEADER}; {_header_text(names)}")
        return cls(user=user, time=time, lat=lat, lon=lon, zone=options.zone)

    @property
    def least_width(self) -> int:
        """Returns how many values a row needs, so that it has one in each column."""
        return 1 + max(self.user, self.lat, self.lon, -1 if self.time is None else self.time)

    def values(self, records: list[Record]) -> Values:
        """Converts rows of at least `least_width`.

        Errors: ValueError (its text is the reason) if any row is bad.
        """
        users = row_values.names_of([record[self.user] for record in records])
        lat = [record[self.lat] for record in records]
        lon = [record[self.lon] for record in records]
        time = None if self.time is None else [record[self.time] for record in records]
        times = row_values.times(time, len(records), self.zone)
        names = row_values.check_names(users)
        return names, times, row_values.degrees(lat, "lat", 90), row_values.degrees(lon, "lon", 180)


def _position(field: str, names: Record, options: Options) -> int | None:
    """Returns the position of a field's column; None when there is none and nobody asked for one."""
    lowered_names = [header_name.strip().lower() for header_name in names]
    if not is_text(lowered_names):
        raise ReaderError("binary", f"the first line is not text in UTF-8; {EXPECTED_HEADER}")
    option = options.columns.get(field)
    header_name = field if option is None else option.lower()
    if header_name in lowered_names and lowered_names.count(header_name) == 1:
        return lowered_names.index(header_name)
    if lowered_names.count(header_name) > 1:
        raise ReaderError("header", f"{EXPECTED_HEADER}; {_header_text(lowered_names)}")
    if option:
        raise ReaderError("header", f"there is no column {option} for {field}; {_header_text(lowered_names)}")
    return None


_NAME = re.compile(r"[A-Za-z][\w .()-]{0,30}", re.ASCII)


def _header_text(names: list[str]) -> str:
    """Says what the header has instead; nothing of it where it could be somebody's check-in."""
    names = [name.strip().lower() for name in names]
    if not all(_NAME.fullmatch(name) for name in names):
        return "the first line holds something else than names of columns separated by commas"
    return f"found {', '.join(names[:10])}" + (" and more" if len(names) > 10 else "")
