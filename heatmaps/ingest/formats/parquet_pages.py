"""Reads what the pages of a Parquet file say they unpack to from their headers: nothing is unpacked.

The file's own end says it, too, but nobody checks that it is true: memory is taken as the pages say. Their
headers are structures of Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md,
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from heatmaps.ingest.formats.lines import ReaderError

MOST_PAGE_BYTES: Final = 2**27  # of one page unpacked; writers make pages of a megabyte
_MOST_HEADER_BYTES: Final = 2**20  # there may be a longest and a least value in it
_USUAL_HEADER_BYTES: Final = 2**10
_DATA, _DATA_2 = 0, 3  # kinds of pages that hold values
_VALUES_IN: Final = {_DATA: 5, _DATA_2: 8}  # which field of a header has the number of values
_DEEPEST: Final = 8
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _, _STRUCT = range(1, 13)


class _Short(Exception):  # noqa: N818 - no fault: more of the file is needed
    """Says that the bytes at hand end within the header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    header_bytes: int
    packed_bytes: int
    unpacked_bytes: int
    values: int


def unpacked_bytes(stream: BinaryIO, size: int, chunk: Any) -> int:
    """Returns the unpacked bytes of a row group's column, as its pages say.

    chunk: its metadata. Errors: `ReaderError`, also for a page that is larger than pages are.
    """
    total = 0
    for page in _pages(stream, size, chunk):
        if page.unpacked_bytes > MOST_PAGE_BYTES:
            raise ReaderError(
                "bomb", "a page of the file unpacks to far more than pages do; send CSV instead"
            )
        total += page.unpacked_bytes
    return total


def _pages(stream: BinaryIO, size: int, chunk: Any) -> Iterator[_Page]:
    """Yields pages as they are read: from the dictionary, if there is one, until all values were there."""
    at, left = int(chunk.data_page_offset), int(chunk.num_values)
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < at:
        at = int(chunk.dictionary_page_offset)
    while left > 0:
        page = _page(stream, at)
        at += page.header_bytes + page.packed_bytes
        if at > size or page.packed_bytes < 0 or page.unpacked_bytes < 0 or page.values < 0:
            raise _damaged()
        left -= page.values
        yield page


def _page(stream: BinaryIO, at: int) -> _Page:
    for length in (_USUAL_HEADER_BYTES, _MOST_HEADER_BYTES):
        stream.seek(at)
        head = _Compact(stream.read(length))
        try:
            fields = head.struct()
        except _Short:
            continue
        values: Any = fields.get(_VALUES_IN.get(fields.get(1, -1), -1), {})
        if not isinstance(values, dict):
            raise _damaged()
        unpacked, packed, count = fields.get(2), fields.get(3), values.get(1, 0)
        if not (isinstance(unpacked, int) and isinstance(packed, int) and isinstance(count, int)):
            raise _damaged()
        return _Page(header_bytes=head.at, packed_bytes=packed, unpacked_bytes=unpacked, values=count)
    raise _damaged()


def _damaged() -> ReaderError:
    return ReaderError("corrupt", "the Parquet file is damaged or ends too early; write and send it again")


class _Compact:
    """Reads Thrift's compact protocol. Errors: _Short, `ReaderError`."""

    def __init__(self, content: bytes) -> None:
        self.at = 0
        self._content = content

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Reads its fields by number: whole numbers and structures; of everything else None."""
        fields, number = dict[int, Any](), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = self._value(head & 0x0F, depth + 1, flag=True)
        return fields

    def _value(self, kind: int, depth: int, *, flag: bool = False) -> Any:
        if depth > _DEEPEST:
            raise _damaged()
        if kind in (_TRUE, _FALSE):
            return None if flag else self._skip(1)  # of a field, its type is the value
        if kind in (_I16, _I32, _I64):
            return self._zigzag()
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET):
            return self._several(depth)
        lengths = {_BYTE: 1, _DOUBLE: 8}
        if kind not in (*lengths, _BINARY):
            raise _damaged()  # no header has such a field
        return self._skip(self._varint() if kind == _BINARY else lengths[kind])

    def _several(self, depth: int) -> None:
        head = self._byte()
        for _ in range(self._varint() if head >> 4 == 0x0F else head >> 4):
            self._value(head & 0x0F, depth + 1)

    def _skip(self, length: int) -> None:
        self.at += length
        if self.at > len(self._content):
            raise _Short

    def _byte(self) -> int:
        self._skip(1)
        return self._content[self.at - 1]

    def _varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise _damaged()

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
