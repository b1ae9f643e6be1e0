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
from heatmaps.ingest.formats.columns import ColumnPositions
from heatmaps.ingest.formats.lines import ReaderError
from heatmaps.ingest.formats.row_values import BAD_TIME, NO_TIME, epoch_seconds, is_text
from heatmaps.pseudonyms.name_column import NameColumn

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 to 9999
LONGEST_TEXT: Final = 1000  # bytes of a user or a time
_BAD: Final = NO_TIME + 1  # a time that is none
_MISSING, _NO_TEXT = -1, -2  # in place of a user's number
_USUAL_TIME: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
_BEYOND_ASCII: Final = 0x7F
_DAY: Final = 86_400  # seconds
_ZONED: Final = pa.timestamp("s", "UTC")
_NAIVE: Final = pa.timestamp("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """Holds where the columns are among those that are read, and what may be in them."""

    names: Mapping[str, str]  # of the columns for user, lat, lon and, if there is one, time
    zone: tzinfo  # of times without one
    texts: list[str]  # those of the columns that hold text
    names_once: bool  # in a batch, where a user's rows share a name

    @classmethod
    def of(cls, schema: Any, columns: ColumnPositions, *, names_once: bool) -> Self:
        """Checks the columns' types. Errors: `ReaderError` for a column of another type."""
        positions = {"user": columns.user, "lat": columns.lat, "lon": columns.lon}
        if columns.time is not None:
            positions["time"] = columns.time
        for field, position in positions.items():
            _check_type(field, schema.field(position).type)
        names = {field: schema.field(position).name for field, position in positions.items()}
        texts = [name for name in names.values() if _is_text_type(schema.field(name).type)]
        return cls(names=names, zone=columns.zone, texts=texts, names_once=names_once)

    def batch(self, part: Any, rows_before: int, *, bytes_read: int) -> Batch:
        """Returns the check-ins of a record batch, which has the columns of `names`."""
        columns = {field: part.column(name) for field, name in self.names.items()}
        names, numbers = _users(columns["user"], once=self.names_once)
        lat, lon = _degrees(columns["lat"]), _degrees(columns["lon"])
        times = _times(columns.get("time"), part.num_rows, self.zone)
        bad = _reasons(numbers, lat, lon, times)
        if bad:
            good = np.ones(part.num_rows, np.bool_)
            good[list(bad)] = False
            used_numbers, places = np.unique(numbers[good], return_inverse=True)
            names, numbers = names.take(_indices(used_numbers)), places.astype(np.int32)
            lat, lon, times = lat[good], lon[good], times[good]
        return Batch(
            name_column=_name_column(names),
            numbers=numbers,
            times=times,
            lat=lat,
            lon=lon,
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


def _distinct(column: Any) -> tuple[Any, NDArray[np.int32]]:
    """Returns the distinct values of a column in an array without nulls, and of each row its number among
    them; -1 without a value. Errors: `ReaderError` for a long text."""
    if not pa.types.is_dictionary(column.type):
        encoded = column.dictionary_encode()
        distinct, numbers = encoded.dictionary, _numbers(encoded.indices)
    else:  # a file's own dictionary may have values without rows, and the same one twice
        used_indices = pc.unique(column.indices.drop_null())
        encoded = column.dictionary.take(used_indices).dictionary_encode()
        distinct, numbers = encoded.dictionary, _numbers(pc.index_in(column.indices, used_indices))
        numbers = np.append(_numbers(encoded.indices), np.int32(-1))[numbers]
    if _is_text_type(distinct.type):
        check_lengths(distinct)
    return distinct, numbers


def _numbers(indices: Any) -> NDArray[np.int32]:
    """Returns indices, -1 for null."""
    filled = indices.fill_null(-1) if indices.null_count else indices
    return _values(filled).astype(np.int32, copy=False)


def _values(numbers: Any) -> NDArray[Any]:
    """Returns an array of numbers without nulls. Arrow's own `to_numpy` would load pandas: .3 s a child."""
    return np.from_dlpack(numbers)


def _strings(distinct: Any) -> list[str]:
    """Returns texts of an array of texts; those that are no UTF-8 have surrogates."""
    wide = pa.large_binary() if pa.types.is_large_string(distinct.type) else pa.binary()
    return [value.decode(errors="surrogateescape") for value in distinct.cast(wide).to_pylist()]


def _users(column: Any, *, once: bool) -> tuple[Any, NDArray[np.int32]]:
    """Returns the names as texts, and of each row its place among them; -1 where missing, -2 where it is no
    UTF-8. once: each name only once; otherwise those of plain text stand as the rows have them."""
    if not once and pa.types.is_string(column.type):
        texts = column.drop_null() if column.null_count else column
        check_lengths(texts)
        if _are_plain(texts):
            is_there = _values(column.is_valid().cast(pa.uint8())).astype(np.bool_)
            return texts, np.where(is_there, np.cumsum(is_there, dtype=np.int32) - 1, _MISSING).astype(
                np.int32
            )
    distinct, numbers = _distinct(column)
    if not _is_text_type(distinct.type):
        return distinct.cast(pa.string()), numbers
    if _are_plain(distinct):
        return distinct, numbers
    names = [name.strip() for name in _strings(distinct)]
    usable = dict.fromkeys(name for name in names if name and is_text([name]))
    places = {name: place for place, name in enumerate(usable)} | {"": _MISSING}
    place_of_name = np.array([places.get(name, _NO_TEXT) for name in names] + [_MISSING], np.int32)
    return _text_array(NameColumn.of(list(usable))), place_of_name[numbers]


def _are_plain(distinct: Any) -> bool:
    """Tells whether all texts are UTF-8, begin and end in visible ASCII, and so are names as they stand."""
    try:
        distinct.validate(full=True)
    except pa.ArrowInvalid:
        return False
    names = _name_column(distinct)
    lengths = names.lengths
    if not lengths.all():
        return False
    text = np.frombuffer(names.text, np.uint8)
    ends = np.concatenate([text[names.ends - 1], text[names.ends - lengths]])
    return bool(((ends > ord(" ")) & (ends < _BEYOND_ASCII)).all())


def _text_array(names: NameColumn) -> Any:
    """Returns names as an array of Arrow."""
    offsets = pa.py_buffer(np.concatenate([[0], names.ends]))
    return pa.Array.from_buffers(pa.large_string(), len(names), [None, offsets, pa.py_buffer(names.text)])


def _name_column(texts: Any) -> NameColumn:
    """Returns an array of texts without nulls as names."""
    if not len(texts):
        return NameColumn(b"", np.zeros(0, np.int64))
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offset_buffer, text_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, kind)[texts.offset : texts.offset + len(texts) + 1]
    text = (
        b"" if text_buffer is None else text_buffer.slice(offsets[0], offsets[-1] - offsets[0]).to_pybytes()
    )
    return NameColumn(text, offsets[1:].astype(np.int64) - int(offsets[0]))


def _indices(numbers: NDArray[np.integer]) -> Any:
    """Returns numbers as an array of Arrow, which would load pandas to look at them."""
    buffer = pa.py_buffer(numbers.astype(np.int64))
    return pa.Array.from_buffers(pa.int64(), numbers.size, [None, buffer])


def _degrees(column: Any) -> NDArray[np.float64]:
    """Returns degrees, NaN where missing."""
    numbers = column.cast(pa.float64())
    filled = numbers.fill_null(float("nan")) if numbers.null_count else numbers
    return _values(filled)


def _times(column: Any | None, count: int, zone: tzinfo) -> NDArray[np.int64]:
    """Returns epoch seconds, NO_TIME where empty, _BAD where none."""
    if column is None or pa.types.is_null(column.type):
        return np.full(count, NO_TIME, np.int64)
    moments = column if pa.types.is_timestamp(column.type) else _moments(column, zone)
    if moments is None:
        return _times_of_texts(column, zone)
    units = moments.cast(pa.int64())
    # No time in numpy is the same number, which some write as it is.
    whole = _values(units.fill_null(NO_TIME) if units.null_count else units)
    seconds = whole if moments.type.unit == "s" else whole // _PER_SECOND[moments.type.unit]
    is_bad = (seconds < FIRST_SECOND) | (seconds > LAST_SECOND)
    if is_bad.any():
        seconds = np.where(is_bad, _BAD, seconds)
    is_empty = whole == NO_TIME
    if is_empty.any():
        seconds = np.where(is_empty, NO_TIME, seconds)
    if moments.type.tz is None and zone is not UTC:
        return np.fromiter((_in_zone(second, zone) for second in seconds.tolist()), np.int64, count)
    return seconds


def _times_of_texts(texts: Any, zone: tzinfo) -> NDArray[np.int64]:
    """Returns seconds as `_times`, of texts that are written in several ways."""
    if not pa.types.is_dictionary(texts.type):
        are_usual = pc.fill_null(pc.match_substring_regex(texts, _USUAL_TIME), False)
        usual = _moments(pc.if_else(are_usual, texts, ""), zone)
        if usual is not None:
            seconds = _times(usual, len(texts), zone).copy()
            rest = np.flatnonzero(~_values(are_usual.cast(pa.uint8())).astype(np.bool_))
            seconds[rest] = _times_one_by_one(texts.take(_indices(rest)), zone)
            return seconds
    return _times_one_by_one(texts, zone)


def _times_one_by_one(texts: Any, zone: tzinfo) -> NDArray[np.int64]:
    distinct, numbers = _distinct(texts)
    seconds = [_seconds(text, zone) for text in _strings(distinct)]
    return np.array([*seconds, NO_TIME], np.int64)[numbers]


def _moments(texts: Any, zone: tzinfo) -> Any | None:
    """Returns texts as moments where all of them are written as Arrow reads them; None otherwise."""
    if pa.types.is_dictionary(texts.type):
        return None
    filled = pc.if_else(pc.equal(texts, ""), None, texts)
    for kind in time_types(zone):
        try:
            times = filled.cast(kind)
        except pa.ArrowInvalid:
            continue
        if are_within_calendar(times):
            return times
    return None


def time_types(zone: tzinfo) -> tuple[Any, ...]:
    """Returns the types of moments that Arrow reads as `epoch_seconds` does, the likelier first."""
    return (_ZONED, _NAIVE) if zone is UTC else (_ZONED,)


def are_within_calendar(times: Any) -> bool:
    """Tells whether no moment lies at the ends of the calendar, where the zone decides whether it is one."""
    ends = pc.min_max(times.cast(pa.int64())).as_py()
    low, high = ends["min"], ends["max"]
    return low is None or bool(low > FIRST_SECOND + _DAY and high < LAST_SECOND - _DAY)


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
    numbers: NDArray[np.int32],
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    times: NDArray[np.int64],
) -> dict[int, str]:
    """Says why, of each row that is no check-in; of several reasons the first, as for texts."""
    bad: dict[int, str] = {}
    for name, values, limit in (("lon", lon, 180), ("lat", lat, 90)):
        for at in np.flatnonzero(~(np.abs(values) <= limit)).tolist():
            bad[at] = f"{name} is {'missing' if np.isnan(values[at]) else f'outside -{limit}..{limit}'}"
    bad |= dict.fromkeys(np.flatnonzero(numbers == _MISSING).tolist(), "user is missing")
    bad |= dict.fromkeys(np.flatnonzero(numbers == _NO_TEXT).tolist(), "user is not text in UTF-8")
    bad |= dict.fromkeys(np.flatnonzero(times == _BAD).tolist(), BAD_TIME)
    return bad
