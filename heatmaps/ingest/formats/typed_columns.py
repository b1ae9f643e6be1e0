"""Turns typed columns of check-ins, as Parquet has them, into users, times and degrees."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heatmaps.ingest.formats.batch import Batch, Rejection
from heatmaps.ingest.formats.columns import BAD_TIME, NO_TIME, ColumnPositions, epoch_seconds, is_text
from heatmaps.ingest.formats.lines import ReaderError

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 to 9999
LONGEST_TEXT: Final = 1000  # bytes of a user or a time
_BAD: Final = NO_TIME + 1  # a time that is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """Holds where the columns are among those that are read, and what may be in them."""

    names: Mapping[str, str]  # of the columns for user, lat, lon and, if there is one, time
    zone: tzinfo  # of times without one
    texts: list[str]  # those of the columns that hold text

    @classmethod
    def of(cls, schema: Any, columns: ColumnPositions) -> Self:
        """Checks the columns' types. Errors: `ReaderError` for a column of another type."""
        positions = {"user": columns.user, "lat": columns.lat, "lon": columns.lon}
        if columns.time is not None:
            positions["time"] = columns.time
        for field, position in positions.items():
            _check_type(field, schema.field(position).type)
        names = {field: schema.field(position).name for field, position in positions.items()}
        texts = [name for name in names.values() if _is_text_type(schema.field(name).type)]
        return cls(names=names, zone=columns.zone, texts=texts)

    def batch(self, part: Any, rows_before: int, *, bytes_read: int) -> Batch:
        """Returns the check-ins of a record batch, which has the columns of `names`."""
        columns = {field: part.column(name) for field, name in self.names.items()}
        names, numbers = _users(columns["user"])
        lat, lon = _degrees(columns["lat"]), _degrees(columns["lon"])
        times = _times(columns.get("time"), part.num_rows, self.zone)
        bad = _reasons(names, numbers, lat, lon, times)
        good = np.ones(part.num_rows, np.bool_)
        good[list(bad)] = False
        if bad:
            used_numbers, numbers = np.unique(numbers[good], return_inverse=True)
            names = [names[place] for place in used_numbers.tolist()]
        return Batch(
            names=names,
            numbers=numbers.astype(np.int32),
            times=times[good],
            lat=lat[good],
            lon=lon[good],
            rejected=[Rejection(row=rows_before + at + 1, reason=bad[at]) for at in sorted(bad)],
            bytes_read=bytes_read,
        )


def check_lengths(texts: Any) -> None:
    """Checks the lengths of texts. Errors: `ReaderError` for an array with a long text."""
    values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    if len(values) and pc.max(pc.binary_length(values)).as_py() > LONGEST_TEXT:
        message = f"a text is longer than {LONGEST_TEXT} bytes; users and times are short"
        raise ReaderError("line_too_long", message)


def _is_text_type(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_user_type(kind: Any) -> bool:
    return _is_text_type(kind) or bool(pa.types.is_integer(kind))


def _is_number_type(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_time_type(kind: Any) -> bool:
    return _is_text_type(kind) or bool(pa.types.is_timestamp(kind) or pa.types.is_null(kind))


_TYPES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "user": (_is_user_type, "text or whole numbers"),
    "lat": (_is_number_type, "numbers"),
    "lon": (_is_number_type, "numbers"),
    "time": (_is_time_type, "timestamps, or text in ISO 8601,"),
}


def _check_type(field: str, kind: Any) -> None:
    allowed, expected = _TYPES[field]
    if not allowed(kind):
        message = f"the column for {field} is of the type {str(kind)[:40]}; {expected} are expected"
        raise ReaderError("header", message)


def _texts(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Returns the distinct texts of a column, and of each row its number among them; -1 without a text."""
    dictionary_column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    used_indices = pc.unique(dictionary_column.indices.drop_null())
    distinct = dictionary_column.dictionary.take(used_indices)
    if _is_text_type(distinct.type):
        check_lengths(distinct)
        wide = pa.large_binary() if pa.types.is_large_string(distinct.type) else pa.binary()
        texts = [value.decode(errors="surrogateescape") for value in distinct.cast(wide).to_pylist()]
    else:
        texts = [str(value) for value in distinct.to_pylist()]
    return texts, pc.fill_null(pc.index_in(dictionary_column.indices, used_indices), -1).to_numpy(
        zero_copy_only=False
    )


def _users(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Returns the distinct names, and of each row its place among them; -1 where missing.

    Texts that are no UTF-8 have surrogates.
    """
    texts, numbers = _texts(column)
    names = [text.strip() for text in texts]
    places = {name: place for place, name in enumerate(dict.fromkeys(filter(None, names)))}
    place_of_text = np.array([places.get(name, -1) for name in names] + [-1], np.int64)
    return list(places), place_of_text[numbers]


def _degrees(column: Any) -> NDArray[np.float64]:
    """Returns degrees, NaN where missing."""
    values: NDArray[np.float64] = (
        column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    )
    return values


def _times(column: Any | None, count: int, zone: tzinfo) -> NDArray[np.int64]:
    """Returns epoch seconds, NO_TIME where empty, _BAD where none."""
    if column is None or pa.types.is_null(column.type):
        return np.full(count, NO_TIME, np.int64)
    if not pa.types.is_timestamp(column.type):
        texts, numbers = _texts(column)
        seconds = np.array([_seconds(text, zone) for text in texts] + [NO_TIME], np.int64)
        return seconds[numbers]
    units: NDArray[np.int64] = column.cast(pa.int64()).fill_null(NO_TIME).to_numpy(zero_copy_only=False)
    seconds = units // _PER_SECOND[column.type.unit]
    seconds[(seconds < FIRST_SECOND) | (seconds > LAST_SECOND)] = _BAD
    seconds[units == NO_TIME] = NO_TIME
    if column.type.tz is None and zone is not UTC:
        return np.fromiter((_in_zone(second, zone) for second in seconds.tolist()), np.int64, count)
    return seconds


def _seconds(text: str, zone: tzinfo) -> int:
    try:
        return epoch_seconds(text, zone)
    except (ValueError, OverflowError):
        return _BAD


def _in_zone(second: int, zone: tzinfo) -> int:
    if second in (NO_TIME, _BAD):
        return second
    try:
        return _seconds((_NAIVE_EPOCH + timedelta(seconds=second)).isoformat(), zone)
    except OverflowError:
        return _BAD


def _reasons(
    names: list[str],
    numbers: NDArray[np.int64],
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    times: NDArray[np.int64],
) -> dict[int, str]:
    """Says why, of each row that is no check-in; of several reasons the first, as for texts."""
    bad: dict[int, str] = {}
    for name, values, limit in (("lon", lon, 180), ("lat", lat, 90)):
        for at in np.flatnonzero(~(np.abs(values) <= limit)).tolist():
            bad[at] = f"{name} is {'missing' if np.isnan(values[at]) else f'outside -{limit}..{limit}'}"
    bad |= dict.fromkeys(np.flatnonzero(times == _BAD).tolist(), BAD_TIME)
    bad |= dict.fromkeys(np.flatnonzero(numbers < 0).tolist(), "user is missing")
    strange = [] if is_text(names) else [place for place, name in enumerate(names) if not is_text([name])]
    bad |= dict.fromkeys(np.flatnonzero(np.isin(numbers, strange)).tolist(), "user is not text in UTF-8")
    return bad
