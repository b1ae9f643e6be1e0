"""Reads a text file, plain or gzip, as lines: streamed, bounded, refused when it is neither."""

import codecs
import io
import itertools
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np

BLOCK_BYTES: Final = 2**18

GZIP: Final = b"\x1f\x8b"
_OTHER_FORMATS: Final = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "Parquet inside gzip (send the Parquet file itself)",
    b"SQLite format 3": "an SQLite database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
_BLANK: Final = (b"\r\n\r\n", b"\r\r")  # of two such line breaks one ends an empty line
_SEND_CSV: Final = "send CSV, NDJSON or SNAP check-ins in UTF-8, plain or compressed with gzip, or Parquet"


class ReaderError(ValueError):
    """Refuses a file that cannot be read as check-ins: `code` for programs, a sentence for its sender."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderLimits:
    """Limits what one file may cost to read."""

    line_length: int = 2**16  # characters
    total_bytes: int = 2**36  # after decompression
    ratio: int = 200  # decompressed by compressed bytes; check-ins reach about 10, zeros 1,000
    ratio_from_bytes: int = 2**24  # decompressed bytes before the ratio is looked at
    idle_rows: int = 100_000  # rows that are no check-ins, beyond one a byte of the file as sent


class Lines:
    """Yields the lines of a stream, each with its "\\n" (CRLF and CR become that), in constant memory.

    A byte-order mark is dropped; bytes that are not UTF-8 become surrogates, for the reader to reject.
    Errors while iterating: `ReaderError` with code binary, line_too_long, too_large, bomb, truncated or
    corrupt.
    """

    def __init__(self, stream: BinaryIO, limits: ReaderLimits) -> None:
        self.bytes_read = 0  # of the stream, before decompression
        self._blank = 0  # lines, at least
        self._stream, self._limits = stream, limits

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self._blocks())

    def blocks(self, least: int) -> Iterator[bytes]:
        """Yields the text's bytes in blocks of at least so many, the last one aside, which end where a line
        does.

        The mark is not dropped, bytes are as they are, and no line is measured: `texts_of` does these.
        """
        rest = b""
        try:
            for block in self._contents():
                rest += block
                if len(rest) >= least and (end := self._end_of_lines(rest)):
                    yield rest[:end]
                    rest = rest[end:]
        except ReaderError:
            if end := self._end_of_lines(rest):
                yield rest[:end]  # what is wrong in them comes first
            raise
        if rest:
            yield rest

    def _end_of_lines(self, text: bytes) -> int:
        """Returns the end of the last whole line, or of the text where the line after is already too long."""
        # A "\r" at the end may be the half of a line break.
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1
        unfinished = text[end:].removesuffix(b"\r").decode(errors="surrogateescape")
        return len(text) if len(unfinished) > self._limits.line_length + 1 else end

    def texts_of(self, block: bytes, before: int) -> list[str]:
        """Returns the lines of one of `blocks`, as iteration gives them. before: how many were there.

        Errors: `ReaderError` with code line_too_long.
        """
        text = block.decode(errors="surrogateescape")
        text = text.removeprefix("\ufeff") if before == 0 else text
        lines = list(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline="\n"))
        self._check_lengths(lines, before)
        return lines

    def _blocks(self) -> Iterator[list[str]]:
        utf8 = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape")
        decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
        before, rest = 0, ""
        for block in self._contents():
            whole, newline, rest = (rest + decoder.decode(block)).rpartition("\n")
            lines = list(io.StringIO(whole + newline, newline="\n"))
            self._check_lengths([*lines, rest], before)
            before += len(lines)
            yield lines
        rest += decoder.decode(b"", final=True)
        self._check_lengths([rest], before)
        yield [rest] if rest else []

    def _check_lengths(self, lines: list[str], before: int) -> None:
        limit = self._limits.line_length
        if max(map(len, lines), default=0) <= limit + 1:  # the line break is not counted
            return
        number = before + 1 + next(i for i, line in enumerate(lines) if len(line) > limit + 1)
        message = f"line {number} is longer than {limit} characters; a check-in is one short line"
        raise ReaderError("line_too_long", message)

    def _contents(self) -> Iterator[bytes]:
        """Yields blocks of the text's bytes."""
        blocks = self._raw()
        first = next(blocks, b"")
        blocks = itertools.chain([first], blocks)
        total = 0
        for block in self._unzipped(blocks) if first.startswith(GZIP) else blocks:
            if total == 0:
                _refuse_other_formats(block)
            total += len(block)
            if total > self._limits.total_bytes:
                message = f"the text is longer than {self._limits.total_bytes} bytes; split the file"
                raise ReaderError("too_large", message)
            if b"\0" in block:
                raise ReaderError("binary", f"the file is not text; {_SEND_CSV}")
            self._blank += _blank_lines(block)
            if self._blank > self._limits.idle_rows + self.bytes_read:
                raise ReaderError("bomb", "the file has far more empty lines than check-ins; remove them")
            yield block

    def _raw(self) -> Iterator[bytes]:
        while block := self._stream.read(BLOCK_BYTES):
            while len(block) < 16 and (more := self._stream.read(BLOCK_BYTES)):
                block += more  # enough to tell the format from
            self.bytes_read += len(block)
            yield block

    def _unzipped(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        total = 0
        for content in _inflate(blocks):
            total += len(content)
            if total > max(self._limits.ratio_from_bytes, self._limits.ratio * self.bytes_read):
                message = "the file unpacks to far more than check-ins do; send the text itself"
                raise ReaderError("bomb", message)
            yield content


def _blank_lines(block: bytes) -> int:
    """Counts blank lines, or at least half of them."""
    is_break = np.frombuffer(block, np.uint8) == ord("\n")  # a fifth of the time that `count` of a pair takes
    carriage_returns = sum(map(block.count, _BLANK)) if b"\r" in block else 0
    return int(np.count_nonzero(is_break[1:] & is_break[:-1])) + carriage_returns


def _inflate(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the content of all members of a gzip file, never more than a block at once."""
    member = zlib.decompressobj(wbits=31)
    try:
        for block in blocks:
            data = block
            while data:
                if member.eof:
                    data = data.lstrip(b"\0")  # padding between and after members
                    member = zlib.decompressobj(wbits=31) if data else member
                yield member.decompress(data, BLOCK_BYTES)
                data = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error as error:
        raise ReaderError("corrupt", "the gzip file is damaged; compress and send it again") from error
    if not member.eof:
        raise ReaderError("truncated", "the gzip file ends too early; send it again in full")


def _refuse_other_formats(block: bytes) -> None:
    if block.startswith(GZIP):
        raise ReaderError("binary", f"the file is compressed twice; {_SEND_CSV}")
    for magic, name in _OTHER_FORMATS.items():
        if block.startswith(magic):
            raise ReaderError("binary", f"the file looks like {name}; {_SEND_CSV}")
