"""Encodes as bytes what a child that reads a file says: batches, facts or a refusal, checked on arrival.

A frame is a head (kind, rows, bytes of JSON, names, their bytes), its JSON, and of a batch the names as one
text and its numbers as columns.
Nothing is believed: whoever broke the child could say anything.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.formats.batch import Batch, Rejection
from heatmaps.ingest.formats.lines import ReaderError
from heatmaps.ingest.formats.row_values import NO_TIME
from heatmaps.pseudonyms.name_column import NameColumn

BATCH, FACTS, REFUSAL, END = b"B", b"P", b"R", b"."
_HEAD: Final = struct.Struct("<cIQIQ")
_NUMBERS: Final = (("numbers", "<i4"), ("times", "<i8"), ("lat", "<f8"), ("lon", "<f8"))
_ENDS: Final = np.dtype("<i8")
_TEXT_BYTES_A_ROW: Final = 2**11  # users are at most a thousand bytes
_TEXT_BYTES: Final = 2**24
_LONGEST_REASON: Final = 500  # characters
_MOST_BYTES: Final = 2**63
_EARLIEST, _LATEST = -(2**40), 2**40  # seconds, far beyond the years that are read


class Broken(Exception):  # noqa: N818 - reads as what it says
    """Says that the child ended too early, or said what no child of ours says."""


def write_batch(batch: Batch, stream: BinaryIO) -> None:
    rejected = [[rejection.row, rejection.reason] for rejection in batch.rejected]
    names = batch.name_column
    _write_head(
        BATCH, {"rejected": rejected, "bytes_read": batch.bytes_read}, stream, batch.numbers.size, names
    )
    stream.write(names.text)
    stream.write(np.ascontiguousarray(names.ends, _ENDS).data)
    for name, kind in _NUMBERS:
        stream.write(np.ascontiguousarray(getattr(batch, name), kind).data)


def write_text(kind: bytes, facts: object, stream: BinaryIO) -> None:
    """Writes a frame without numbers."""
    _write_head(kind, facts, stream)
    stream.flush()


def read_frames(stream: BinaryIO, *, most_rows: int) -> Iterator[Batch | dict[str, Any]]:
    """Yields batches of at most `most_rows` rows, or the facts of a file as JSON.

    Errors: Broken; `ReaderError` as it was sent.
    """
    while True:
        kind, rows, length, name_count, name_length = _HEAD.unpack(_read_exactly(stream, _HEAD.size))
        most = _TEXT_BYTES + _TEXT_BYTES_A_ROW * most_rows
        if rows > most_rows or name_count > rows or max(length, name_length) > most:
            raise Broken
        facts = _json(_read_exactly(stream, length))
        if kind == BATCH:
            text, ends = _read_exactly(stream, name_length), _read_numbers(stream, name_count, _ENDS)
            columns = [_read_numbers(stream, rows, np.dtype(kind)) for _, kind in _NUMBERS]
            yield _batch(facts, most_rows, NameColumn(text, ends), columns)
        elif kind == FACTS:
            yield facts
        elif kind == REFUSAL:
            raise _refusal(facts)
        elif kind == END:
            return
        else:
            raise Broken


def _write_head(
    kind: bytes, facts: object, stream: BinaryIO, rows: int = 0, names: NameColumn | None = None
) -> None:
    text = json.dumps(facts, ensure_ascii=False).encode()
    name_count, name_length = (0, 0) if names is None else (len(names), len(names.text))
    stream.write(_HEAD.pack(kind, rows, len(text), name_count, name_length))
    stream.write(text)


def _read_numbers(stream: BinaryIO, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(_read_exactly(stream, count * kind.itemsize), kind)


def _read_exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) != length:
        raise Broken
    return content


def _json(text: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise Broken from error
    if not isinstance(facts, dict):
        raise Broken
    return facts


def _batch(facts: dict[str, Any], most_rows: int, names: NameColumn, columns: list[NDArray[Any]]) -> Batch:
    numbers, times, lat, lon = columns
    rejected, bytes_read = facts.get("rejected"), facts.get("bytes_read")
    if not (names.are_whole and _are_places(numbers, len(names))):
        raise Broken
    if not (isinstance(rejected, list) and len(rejected) <= most_rows):
        raise Broken
    if not (isinstance(bytes_read, int) and 0 <= bytes_read < _MOST_BYTES):
        raise Broken
    are_moments = (times == NO_TIME) | ((times > _EARLIEST) & (times < _LATEST))
    if not (_within(lat, 90) and _within(lon, 180) and are_moments.all()):
        raise Broken
    return Batch(
        name_column=names,
        numbers=numbers.astype(np.int32, copy=False),
        times=times.astype(np.int64, copy=False),
        lat=lat.astype(np.float64, copy=False),
        lon=lon.astype(np.float64, copy=False),
        rejected=[_rejection(rejection) for rejection in rejected],
        bytes_read=bytes_read,
    )


def _are_places(numbers: NDArray[Any], count: int) -> bool:
    """Tells whether there is each of `count` places at least once, and no other."""
    if not ((numbers >= 0) & (numbers < count)).all():
        return False
    return bool(np.bincount(numbers, minlength=count).all())


def _within(degrees: NDArray[np.float64], limit: float) -> bool:
    return bool((np.abs(degrees) <= limit).all())  # false for nan


def _is_reason(text: str) -> bool:
    """Tells whether a text is short, and what PostgreSQL stores and a file takes: without NUL and halves of
    characters."""
    is_whole = "\0" not in text and text.encode(errors="ignore").decode() == text
    return is_whole and len(text) <= _LONGEST_REASON


def _rejection(fact: object) -> Rejection:
    match fact:
        case [int(row), str(reason)] if _is_reason(reason):
            return Rejection(row=row, reason=reason)
        case _:
            raise Broken


def _refusal(facts: dict[str, Any]) -> ReaderError:
    match facts:
        case {"code": str(code), "message": str(message)} if _is_reason(code + message):
            return ReaderError(code, message)
        case _:
            raise Broken
