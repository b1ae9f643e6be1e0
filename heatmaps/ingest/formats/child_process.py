"""Reads every file that others wrote in a child process: with limits of memory and time, without secrets.

A file that makes the child end is refused; what reads it here goes on.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import UnsupportedOperation
from threading import Timer
from typing import Any, BinaryIO, Final, cast

from heatmaps.children import process
from heatmaps.children.process import Limits
from heatmaps.ingest.formats import frames, parquet
from heatmaps.ingest.formats.batch import Batch
from heatmaps.ingest.formats.frames import Broken
from heatmaps.ingest.formats.lines import ReaderError, ReaderLimits
from heatmaps.ingest.formats.preview import Preview
from heatmaps.ingest.options import Options

_CHILD: Final = "heatmaps.ingest.formats.child"
_TEXT_CHILD: Final = "heatmaps.ingest.formats.text_child"
_MEMORY_BYTES: Final = 2**30
_PREVIEW_BYTES: Final = 2**29
_PREVIEW_SECONDS: Final = 20
SMALL_BYTES: Final = 2**20  # of text as sent: about where Arrow's loading costs less than it saves
_LEAST_SECONDS: Final = 60  # of a processor
_BYTES_A_SECOND: Final = 100_000  # of the file; check-ins are read ten times as fast and faster
_LIST_ROWS: Final = 2**15  # a frame of so many rows has room for any list of names
_ON_THE_CLOCK: Final = 3  # times as long, for a machine that is busy with other things
_COSTLY: Final = (
    "the file is damaged, or reading it takes more memory or time than check-ins do; send smaller files"
)


def batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int, *, exact_numbers: bool = True
) -> Iterator[Batch]:
    """Returns a file's batches, read by a child (`heatmaps.ingest.formats.child`). Errors: `ReaderError`."""
    module, size = module_for(stream), _size(stream)
    # A pipe, which only a command reads, may be as long as it likes.
    seconds = 0 if size is None else _LEAST_SECONDS + size // _BYTES_A_SECOND
    # As nice as whoever waits for it: a worker that read such files itself would stand no further behind.
    allowed = Limits(memory_bytes=_MEMORY_BYTES, cpu_seconds=seconds, nicer=0)
    request = {
        "options": options.to_json(),
        "batch_rows": batch_rows,
        "limits": asdict(limits),
        "exact_numbers": exact_numbers,
    }
    with _told(module, stream, request, allowed) as frame, _refused():
        for batch in frames.read_frames(frame, most_rows=batch_rows):
            if not isinstance(batch, Batch):
                raise Broken
            yield batch


def preview(stream: BinaryIO, *, whole: bool = True) -> Preview:
    """As `heatmaps.ingest.formats.preview.preview`, which a child runs. Errors: `ReaderError`."""
    with _refused():
        return Preview.checked(_facts(_CHILD, stream, ReaderLimits(), whole=whole))


def names(stream: BinaryIO, limits: ReaderLimits) -> list[str]:
    """Returns the lines of a text file, each once, without white space around them. Errors: `ReaderError`."""
    with _refused():
        listed = _facts(_TEXT_CHILD, stream, limits, most=_LIST_ROWS).get("names")
        if not (isinstance(listed, list) and all(isinstance(name, str) and name for name in listed)):
            raise Broken
        return listed


def _facts(
    module: str, stream: BinaryIO, limits: ReaderLimits, *, whole: bool = True, most: int = 0
) -> dict[str, Any]:
    """What a child says of a file as JSON, `most` rows long. Errors: Broken; `ReaderError`."""
    allowed = Limits(memory_bytes=_PREVIEW_BYTES, cpu_seconds=_PREVIEW_SECONDS)
    request = {"options": None, "whole": whole, "limits": asdict(limits)}
    with _told(module, stream, request, allowed, seconds=_ON_THE_CLOCK * _PREVIEW_SECONDS) as frame:
        for facts in frames.read_frames(frame, most_rows=most):
            if isinstance(facts, dict):
                return facts
    raise Broken


def module_for(stream: BinaryIO) -> str:
    """Returns which child reads the stream, which is at its beginning afterwards where it can seek."""
    size = _size(stream)
    is_small_text = size is not None and size < SMALL_BYTES and not parquet.recognised(stream)
    return _TEXT_CHILD if is_small_text else _CHILD


def _size(stream: BinaryIO) -> int | None:
    """In bytes; None of a stream that cannot seek."""
    if not stream.seekable():
        return None
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    return size


@contextmanager
def _told(
    module: str, stream: BinaryIO, request: dict[str, Any], limits: Limits, *, seconds: float | None = None
) -> Iterator[BinaryIO]:
    """What a child says of the file. seconds: after which it is ended; None: it may take longer."""
    with _with_descriptor(stream) as file:
        child = process.started(module, limits, files=[file.fileno()], quiet=True)
        assert child.stdin is not None  # noqa: S101 - both are pipes
        assert child.stdout is not None  # noqa: S101 - as above
        timer = None if seconds is None else Timer(seconds, child.kill)
        try:
            if timer is not None:
                timer.start()
            with child.stdin as pipe:
                pipe.write(json.dumps(request | {"descriptor": file.fileno()}).encode() + b"\n")
            yield cast(BinaryIO, child.stdout)
        except BrokenPipeError as error:  # it ended before it was told anything
            raise ReaderError("costly", _COSTLY) from error
        finally:
            if timer is not None:
                timer.cancel()
            process.ended(child)


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except Broken as error:
        raise ReaderError("costly", _COSTLY) from error


@contextmanager
def _with_descriptor(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The file itself, or a copy on disk of one that is in memory."""
    try:
        stream.fileno()
    except (AttributeError, UnsupportedOperation):
        with tempfile.TemporaryFile() as copy:
            if stream.seekable():
                stream.seek(0)
            shutil.copyfileobj(stream, copy)
            copy.flush()
            yield cast(BinaryIO, copy)
    else:
        yield stream
