"""Text files of check-ins by format, told apart by their first line: CSV, NDJSON, SNAP check-ins."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice, repeat
from typing import Final

from heatmaps.ingest.batch import Chunk, Rejection, TextSource
from heatmaps.ingest.columns import EXPECTED_HEADER, Record
from heatmaps.ingest.lines import ReaderError

SNAP_NAMES: Final = ("user", "time", "lat", "lon", "place")
NAMED_BY_LINES: Final = 100  # of NDJSON, whose objects name their columns one by one
MOST_NAMES: Final = 100

_NOT_TEXT: Final = "\udcff"  # for a JSON value that is no text and no number: no column takes it


def text_source(lines: Iterable[str]) -> TextSource:
    """The file behind the lines. Errors: `ReaderError`."""
    rest = iter(lines)
    for blank, line in enumerate(rest):
        if line.strip():
            # Not kept one by one: nobody knows how many blank lines there are.
            return _source_of(line, chain(repeat("\n", blank), [line], rest))
    raise ReaderError("empty", "the file is empty")


def _source_of(first: str, lines: Iterator[str]) -> TextSource:
    if first.lstrip().startswith("{"):
        return NdjsonSource(lines)
    if first.lstrip().startswith("["):
        message = (
            "the file is a JSON list; write one JSON object a line (NDJSON) without brackets around them"
        )
        raise ReaderError("header", message)
    return SnapSource(lines) if _is_snap(first) else CsvSource(lines)


def _is_snap(line: str) -> bool:
    fields = line.rstrip("\n").split("\t")
    return len(fields) in (4, 5) and all(map(_is_number, fields[2:4]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class CsvSource:
    """Records of CSV text; the first one that is not blank is the header."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._rows = csv.reader(lines, strict=True, skipinitialspace=True)
        self.names = self._header()

    def _header(self) -> Record:
        try:
            return next(record for record in self._rows if any(record))
        except csv.Error as error:
            raise ReaderError("header", f"the first line is no CSV header; {EXPECTED_HEADER}") from error
        except StopIteration:
            raise ReaderError("empty", "the file is empty") from None

    def take(self, count: int) -> Chunk | None:
        records: list[Record] = []
        before, broken = self._rows.line_num, False
        try:
            records.extend(islice(self._rows, count))
        except csv.Error:  # what was read before it stays in the list
            broken = True
        lines = _starts(records, before + 1, self._rows.line_num - before - broken)
        if not broken:
            return Chunk(records=records, lines=lines, broken=[]) if records else None
        return Chunk(records=records, lines=lines, broken=[self._broken_row(records, lines, before)])

    def _broken_row(self, records: list[Record], lines: Sequence[int], before: int) -> Rejection:
        start = lines[-1] + _height(records[-1]) if records else before + 1
        if start != self._rows.line_num:  # how many rows it swallowed cannot be told
            raise ReaderError("quote", f"a quoted field that begins in line {start} does not end properly")
        return Rejection(row=start, reason="quotes are not closed or not at the ends of a field")


def _starts(records: list[Record], first: int, height: int) -> Sequence[int]:
    if height == len(records):
        return range(first, first + height)
    return list(accumulate(map(_height, records[:-1]), initial=first)) if records else []


def _height(record: Record) -> int:
    """Lines of a record: quoted fields may have line breaks."""
    return 1 + sum(field.count("\n") for field in record)


class NdjsonSource:
    """One JSON object a line; its columns are the keys of the first objects."""

    def __init__(self, lines: Iterator[str]) -> None:
        numbered = enumerate(lines, 1)
        head = list(islice(numbered, NAMED_BY_LINES))
        self._lines = chain(head, numbered)
        keys = dict.fromkeys(key for _, line in head for key in _object(line) or ())
        self.names = list(islice(keys, MOST_NAMES))
        if "time" not in {name.strip().lower() for name in self.names}:
            self.names.append("time")  # the only one that may be missing, so also in the first objects

    def take(self, count: int) -> Chunk | None:
        taken = list(islice(self._lines, count))
        records, numbers, broken = list[Record](), list[int](), list[Rejection]()
        for number, line in taken:
            found = _object(line)
            if found is not None:
                records.append([_text(found.get(name)) for name in self.names])
                numbers.append(number)
            elif line.strip():
                broken.append(Rejection(row=number, reason="not a JSON object"))
        return Chunk(records=records, lines=numbers, broken=broken) if taken else None


# Numbers stay the text they are written in: 7 and "7" are the same user, and no digit is lost.
_decode = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def _object(line: str) -> dict[str, object] | None:
    try:
        found = _decode(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _NOT_TEXT


class SnapSource:
    """Check-ins as the Stanford Large Network Dataset Collection writes them: by position, between tabs."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = enumerate(lines, 1)
        self.names = list(SNAP_NAMES)

    def take(self, count: int) -> Chunk | None:
        taken = list(islice(self._lines, count))
        records, numbers, broken = list[Record](), list[int](), list[Rejection]()
        for number, line in taken:
            record = line.rstrip("\n").split("\t")
            if len(record) >= 4:
                records.append(record)
                numbers.append(number)
            elif line.strip():
                broken.append(Rejection(row=number, reason="fewer than four columns between tabs"))
        return Chunk(records=records, lines=numbers, broken=broken) if taken else None
