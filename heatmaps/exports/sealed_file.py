"""Seals files that are kept, so that what somebody else put in their place is never served.

Behind a file's content stand tags of 32 bytes, one of each block: HMAC-SHA-256 over the file's name, its
size, the block's number and the block. The name says all that a file is made from, so that no file stands for
another. Whoever reads a block gets it checked, whatever is written meanwhile.
"""

import hmac
import io
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, cast

from django.conf import settings

BLOCK_BYTES: Final = 1 << 18
TAG_BYTES: Final = 32
_PURPOSE: Final = b"hazemap kept file 1"


class BadSealError(OSError):
    """Says that the file is not as this program sealed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Tags the blocks of one file."""

    name: str
    size: int  # of the content, bytes
    key: bytes = field(repr=False)

    @property
    def blocks(self) -> int:
        """Returns the number of blocks: an empty file has one block, too."""
        return max(-(-self.size // BLOCK_BYTES), 1)

    def tag(self, number: int, block: bytes) -> bytes:
        """Returns the tag of a block of the content; no two files have heads of equal texts."""
        head = b"%s\0%s\0%d\0%d\0" % (_PURPOSE, self.name.encode(), self.size, number)
        return hmac.digest(self.key, head + block, "sha256")

    def checked(self, descriptor: int, number: int) -> bytes:
        """Reads a block of an open file. Errors: BadSealError."""
        start = number * BLOCK_BYTES
        block = os.pread(descriptor, min(BLOCK_BYTES, self.size - start), start)
        tag = os.pread(descriptor, TAG_BYTES, self.size + number * TAG_BYTES)
        if not hmac.compare_digest(tag, self.tag(number, block)):
            raise BadSealError("a kept file is not as it was sealed")
        return block


def seal(descriptor: int, name: str) -> None:
    """Appends the tags of a file of that name, open to read and write."""
    file_seal = Seal(name=name, size=os.fstat(descriptor).st_size, key=_key())
    tags = (
        file_seal.tag(number, os.pread(descriptor, BLOCK_BYTES, number * BLOCK_BYTES))
        for number in range(file_seal.blocks)
    )
    with os.fdopen(os.dup(descriptor), "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(b"".join(tags))


def opened(path: Path) -> BinaryIO | None:
    """Returns the content of a sealed file at its start, all of it checked; None where there is no such file.

    What is no file, such as a link, or not as it was sealed, is none. Reading raises BadSealError where the
    file was changed after that.
    """
    try:
        # A pipe without a writer would hold up whoever opens it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        file_seal = _seal_of(descriptor, path.name)
        for number in range(file_seal.blocks):
            file_seal.checked(descriptor, number)
        with suppress(PermissionError):
            os.utime(descriptor)  # read last now
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BadSealError):
            return None
        raise
    return cast(BinaryIO, io.BufferedReader(_Content(descriptor, file_seal), BLOCK_BYTES))


def content_bytes(size: int) -> int:
    """Returns the bytes of content in a sealed file of that size."""
    return size - TAG_BYTES * -(-size // (BLOCK_BYTES + TAG_BYTES))


class _Content(io.RawIOBase):
    """Reads the content of a sealed file, each block checked when it is read."""

    def __init__(self, descriptor: int, file_seal: Seal) -> None:
        self._descriptor, self._seal, self._at = descriptor, file_seal, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._seal.size}[whence]
        if start + offset < 0:
            raise ValueError("before the start of the file")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed's Buffer
        if self._at >= self._seal.size or not len(buffer):
            return 0
        number, start = divmod(self._at, BLOCK_BYTES)
        part = self._seal.checked(self._descriptor, number)[start : start + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _seal_of(descriptor: int, name: str) -> Seal:
    status = os.fstat(descriptor)
    size = content_bytes(status.st_size)
    if not stat.S_ISREG(status.st_mode) or size < 0:
        raise BadSealError("this is no sealed file")
    return Seal(name=name, size=size, key=_key())


def _key() -> bytes:
    return _read(settings.KEPT_FILES_KEY)


@lru_cache(maxsize=8)
def _read(key: Callable[[], str]) -> bytes:
    return key().encode()
