"""Reads text files of check-ins by format, told apart by their first line: CSV, NDJSON, SNAP check-ins."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice, repeat
from typing import Final

from heatmaps.ingest.formats.batch import Chunk, Rejection, TextSource
from heatmaps.ingest.formats.columns import EXPECTED_HEADER, Record
from heatmaps.ingest.formats.lines import ReaderError
from heatmaps.pseudonyms.user_names import MOST_DIGITS, Number

SNAP_NAMES: Final = ("user", "time", "lat", "lon", "place")
NAMED_BY_LINES: Final = 100  # of NDJSON, whose objects name their columns one by one
MOST_NAMES: Final = 100

_NOT_TEXT: Final = "\udcff"  # for a JSON value that is no text and no number: no column takes it


def text_source(lines: Iterable[str], *, exact_numbers: bool = True) -> TextSource:
    """Returns the file behind the lines. Errors: `ReaderError`.

    exact_numbers: those of JSON are a `Number`, or an integer in its one spelling; otherwise texts.
    """
    rest = iter(lines)
    for blank, line in enumerate(rest):
        if line.strip():
            # Not kept one by one: nobody knows how many blank lines there are.
            return _source_of(line, chain(repeat("\n", blank), [line], rest), exact_numbers)
    raise ReaderError("empty", "the file is empty")


def _source_of(first: str, lines: Iterator[str], exact_numbers: bool) -> TextSource:
    if first.lstrip().startswith("{"):
        return NdjsonSource(lines, exact_numbers=exact_numbers)
    if first.lstrip().startswith("["):
        message = (
            "the file is a JSON list; write one JSON object a line (NDJSON) without brackets around them"
        )
        raise ReaderError("header", message)
    fields = first.rstrip("\n").split("\t")
    is_snap = len(fields) in (4, 5) and all(map(_is_number, fields[2:4]))
    return SnapSource(lines) if is_snap else CsvSource(lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class CsvSource:
    """Records of CSV text; the first one that is not blank is the header, unless `names` are given.

    before: lines of the file before these, of a part of a file. `lines_read`: those of the file, so far.
    """

    def __init__(self, lines: Iterator[str], *, names: Record | None = None, before: int = 0) -> None:
        self._rows, self._before = csv.reader(lines, strict=True, skipinitialspace=True), before
        self.names = self._header() if names is None else names
        self.unfinished: int | None = None

    @property
    def lines_read(self) -> int:
        return self._before + self._rows.line_num

    def _header(self) -> Record:
        try:
            return next(record for record in self._rows if any(record))
        except csv.Error as error:
            raise ReaderError("header", f"the first line is not a CSV header; {EXPECTED_HEADER}") from error
        except StopIteration:
            raise ReaderError("empty", "the file is empty") from None

    def take(self, count: int, *, lines_there: int | None = None) -> Chunk | None:
        """Takes at most `count` rows; None at the end.

        lines_there: lines of the file that are there, where more may follow; `unfinished` is the line in
        which a row begins that the following ones may finish.
        """
        records: list[Record] = []
        before, is_broken = self.lines_read, False
        try:
            records.extend(islice(self._rows, count))
        except csv.Error:  # what was read before it stays in the list
            is_broken = True
        lines = _starts(records, before + 1, self.lines_read - before - is_broken)
        start = lines[-1] + _height(records[-1]) if records else before + 1
        if is_broken and self.lines_read == lines_there:
            self.unfinished, is_broken = start, False
        if not is_broken:
            return Chunk(records=records, lines=lines, broken=[]) if records else None
        if start != self.lines_read:  # how many rows it swallowed cannot be told
            raise ReaderError("quote", f"a quoted field that begins in line {start} does not end properly")
        row = Rejection(row=start, reason="quotes are not closed or not at the ends of a field")
        return Chunk(records=records, lines=lines, broken=[row])


def _starts(records: list[Record], first: int, height: int) -> Sequence[int]:
    if height == len(records):
        return range(first, first + height)
    return list(accumulate(map(_height, records[:-1]), initial=first)) if records else []


def _height(record: Record) -> int:
    """Counts the lines of a record: quoted fields may have line breaks."""
    return 1 + sum(field.count("\n") for field in record)


def _integer(text: str) -> str:
    if len(text) > MOST_DIGITS:  # as in every other spelling of it
        return Number(text)
    return "0" if text == "-0" else text  # JSON has no other second spelling of it without . or e


# Numbers keep the digits they are written in: none is lost, and 7 and "7" are the same user.
_TEXTS: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).raw_decode
_NUMBERS: Final = json.JSONDecoder(parse_float=Number, parse_int=_integer, parse_constant=str).raw_decode


class NdjsonSource:
    """Reads one JSON object a line; its columns are the keys of the first objects."""

    def __init__(self, lines: Iterator[str], *, exact_numbers: bool = True) -> None:
        self._decode = _NUMBERS if exact_numbers else _TEXTS
        numbered = enumerate(lines, 1)
        head = list(islice(numbered, NAMED_BY_LINES))
        self._lines = chain(head, numbered)
        keys = dict.fromkeys(key for _, line in head for key in self._object(line) or ())
        self.names = list(islice(keys, MOST_NAMES))
        if "time" not in {name.strip().lower() for name in self.names}:
            self.names.append("time")  # the only one that may be missing, so also in the first objects

    def take(self, count: int) -> Chunk | None:
        return _chunk(islice(self._lines, count), self._record, "not a JSON object")

    def _record(self, line: str) -> Record | None:
        values = self._object(line)
        return None if values is None else [_text(values.get(name)) for name in self.names]

    def _object(self, line: str) -> dict[str, object] | None:
        text = line.strip(" \t\r\n")
        try:
            content, end = self._decode(text)
        except (ValueError, RecursionError):
            return None
        return content if isinstance(content, dict) and end == len(text) else None


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _NOT_TEXT


class SnapSource:
    """Reads check-ins as the Stanford Large Network Dataset Collection writes them: by position, between
    tabs."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = enumerate(lines, 1)
        self.names = list(SNAP_NAMES)

    def take(self, count: int) -> Chunk | None:
        return _chunk(islice(self._lines, count), self._record, "fewer than four columns between tabs")

    @staticmethod
    def _record(line: str) -> Record | None:
        record = line.rstrip("\n").split("\t")
        return record if len(record) >= 4 else None


def _chunk(
    numbered_lines: Iterable[tuple[int, str]], record_of: Callable[[str], Record | None], reason: str
) -> Chunk | None:
    """Reads a chunk. reason: why a line that is neither blank nor a record is refused."""
    records, numbers, rejections = list[Record](), list[int](), list[Rejection]()
    last = None
    for last, line in numbered_lines:
        if line.isspace():
            continue
        record = record_of(line)
        if record is None:
            rejections.append(Rejection(row=last, reason=reason))
        else:
            records.append(record)
            numbers.append(last)
    return None if last is None else Chunk(records=records, lines=numbers, broken=rejections)
