"""Parses an upload's options: columns, time zone, and the share of invalid rows to accept."""

import csv
import functools
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Self

from mechanisms.check import ParameterError, exact_decimal

FIELDS: Final = ("user", "time", "lat", "lon")
UTC_NAME: Final = "UTC"

_COLUMNS: Final = (
    "FIELD=COLUMN,… with each of user, time, lat, lon at most once, such as user=uid,lat=latitude"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Says how a file is read.

    `columns` names a file's column for a field, where it is not the field's own name (time: "" for none).

    `time_zone` (IANA) is that of times without an offset. Where clocks are set back and an hour comes twice,
    such a time is in the first of the two; a time that clocks skip counts as if they had not been set yet.
    `max_rejected` is the share of rows that may be no check-ins; None: the server's default.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    time_zone: str = UTC_NAME
    max_rejected: Fraction | None = None

    def __post_init__(self) -> None:
        _check_columns(self.columns)
        if self.time_zone != UTC_NAME and self.time_zone not in zone_names():
            raise ParameterError("time_zone", self.time_zone, "an IANA name such as UTC or Europe/Madrid")
        if self.max_rejected is not None and not 0 <= self.max_rejected <= 1:
            raise ParameterError("max_rejected", str(self.max_rejected), "0 to 100 %")

    @classmethod
    def parse(cls, *, columns: str = "", time_zone: str = "", max_rejected: str = "") -> Self:
        """Parses texts of forms and commands; `max_rejected` in percent. Errors: `ParameterError`."""
        percent = max_rejected.strip().removesuffix("%").strip()
        return cls(
            columns=parsed_columns(columns),
            time_zone=time_zone.strip() or UTC_NAME,
            max_rejected=exact_decimal("max_rejected", percent, low=0, high=100) / 100 if percent else None,
        )

    @property
    def zone(self) -> tzinfo:
        return UTC if self.time_zone == UTC_NAME else zoneinfo.ZoneInfo(self.time_zone)

    def to_json(self) -> dict[str, object]:
        """Returns only what differs from the defaults; lossless."""
        changes: dict[str, object] = {}
        if self.columns:
            changes["columns"] = dict(self.columns)
        if self.time_zone != UTC_NAME:
            changes["time_zone"] = self.time_zone
        if self.max_rejected is not None:
            changes["max_rejected"] = str(self.max_rejected)
        return changes

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Self:
        columns, share = content.get("columns", {}), content.get("max_rejected")
        if not isinstance(columns, Mapping):
            raise TypeError("columns is not an object")
        return cls(
            columns=columns,
            time_zone=str(content.get("time_zone", UTC_NAME)),
            max_rejected=None if share is None else Fraction(str(share)),
        )


def parsed_columns(text: str) -> dict[str, str]:
    """Parses `user=uid,lat=latitude`; a part with a comma is quoted as in CSV. Errors: `ParameterError`."""
    try:
        parts = next(csv.reader([text.strip()], strict=True, skipinitialspace=True), [])
    except csv.Error:
        raise ParameterError("columns", text, _COLUMNS) from None
    columns: dict[str, str] = {}
    for part in parts:
        name, equals, column = part.partition("=")
        if not equals or name.strip() in columns:
            raise ParameterError("columns", text, _COLUMNS)
        columns[name.strip()] = column.strip()
    _check_columns(columns)
    return columns


@functools.cache
def zone_names() -> frozenset[str]:
    """Returns IANA names of time zones."""
    return frozenset(zoneinfo.available_timezones())


def _check_columns(columns: Mapping[str, str]) -> None:
    text = ",".join(f"{name}={column}" for name, column in columns.items())
    if not set(columns) <= set(FIELDS) or not all(columns[name] for name in columns if name != "time"):
        raise ParameterError("columns", text, _COLUMNS)
    columns_used = [column.lower() for column in columns.values() if column]
    if len(columns_used) != len(set(columns_used)):
        raise ParameterError("columns", text, "another column for each field")
