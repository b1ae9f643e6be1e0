"""Recognises Parquet files, without the library that reads them."""

from typing import BinaryIO, Final

MAGIC: Final = b"PAR1"


def recognised(stream: BinaryIO) -> bool:
    """Tells whether a stream at its beginning is a Parquet file; it is at its beginning again afterwards."""
    if not stream.seekable():
        return False
    head = b""
    while len(head) < len(MAGIC) and (more := stream.read(len(MAGIC) - len(head))):
        head += more
    stream.seek(0)
    return head == MAGIC
