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
from subprocess import Popen
from threading import Timer
from time import monotonic
from typing import Any, BinaryIO, Final, TypeVar, cast

from heatmaps.children import process
from heatmaps.children.process import Limits
from heatmaps.ingest.formats import frames, parquet_magic
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
# Batches that a file may have: more by far than any has, and not as many as keep its reader busy for hours.
_MOST_BATCHES, _MOST_ROWS_A_BYTE = 1000, 1000
_COSTLY: Final = (
    "the file is damaged, or reading it takes more memory or time than check-ins do; send smaller files"
)

T = TypeVar("T")


def batches(
    stream: BinaryIO,
    options: Options,
    limits: ReaderLimits,
    batch_rows: int,
    *,
    exact_numbers: bool = True,
    names_once: bool = True,
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
        "names_once": names_once,
    }
    with _reading(module, stream, request, allowed) as child, _refused():
        answers = frames.read_frames(_output(child), most_rows=batch_rows)
        for number, batch in enumerate(_waited(answers, child, _ON_THE_CLOCK * seconds)):
            if not isinstance(batch, Batch):
                raise Broken
            if size is not None:
                most = _MOST_BATCHES + size * _MOST_ROWS_A_BYTE // batch_rows
                if number > most or batch.bytes_read > size:
                    raise Broken
            yield batch


def preview(stream: BinaryIO, *, whole: bool = True) -> Preview:
    """Previews a file as `heatmaps.ingest.formats.previewer.preview` does, which a child runs.

    Errors: `ReaderError`.
    """
    with _refused():
        return Preview.checked(_facts(_CHILD, stream, ReaderLimits(), whole=whole))


def names(stream: BinaryIO, limits: ReaderLimits) -> list[str]:
    """Returns the lines of a text file, each once, without white space around them. Errors: `ReaderError`."""
    with _refused():
        name_list = _facts(_TEXT_CHILD, stream, limits, most=_LIST_ROWS).get("names")
        if not (isinstance(name_list, list) and all(isinstance(name, str) and name for name in name_list)):
            raise Broken
        return name_list


def _facts(
    module: str, stream: BinaryIO, limits: ReaderLimits, *, whole: bool = True, most: int = 0
) -> dict[str, Any]:
    """Returns a child's facts of a file as JSON, `most` rows long. Errors: Broken; `ReaderError`."""
    allowed = Limits(memory_bytes=_PREVIEW_BYTES, cpu_seconds=_PREVIEW_SECONDS)
    request = {"options": None, "whole": whole, "limits": asdict(limits)}
    with _reading(module, stream, request, allowed) as child:
        answers = frames.read_frames(_output(child), most_rows=most)
        for facts in _waited(answers, child, _ON_THE_CLOCK * _PREVIEW_SECONDS):
            if isinstance(facts, dict):
                return facts
    raise Broken


def module_for(stream: BinaryIO) -> str:
    """Returns which child reads the stream, which is at its beginning afterwards where it can seek."""
    size = _size(stream)
    is_small_text = size is not None and size < SMALL_BYTES and not parquet_magic.recognised(stream)
    return _TEXT_CHILD if is_small_text else _CHILD


def _size(stream: BinaryIO) -> int | None:
    """Returns the size in bytes; None of a stream that cannot seek."""
    if not stream.seekable():
        return None
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    return size


@contextmanager
def _reading(
    module: str, stream: BinaryIO, request: dict[str, Any], limits: Limits
) -> Iterator[Popen[bytes]]:
    """Yields a child that was asked to read the file, and ends it. Errors: `ReaderError`."""
    with _with_descriptor(stream) as file:
        child = process.started(module, limits, files=[file.fileno()], quiet=True)
        assert child.stdin is not None  # noqa: S101 - a pipe
        try:
            with child.stdin as pipe:
                pipe.write(json.dumps(request | {"descriptor": file.fileno()}).encode() + b"\n")
            yield child
        except BrokenPipeError as error:  # it ended before it was told anything
            raise ReaderError("costly", _COSTLY) from error
        finally:
            process.ended(child)


def _output(child: Popen[bytes]) -> BinaryIO:
    return cast(BinaryIO, child.stdout)


def _waited(answers: Iterator[T], child: Popen[bytes], seconds: float) -> Iterator[T]:
    """Yields a child's answers, and ends it once it was waited for so long in all: its limit of time
    counts what it computes, not what it sleeps. 0: for as long as it takes."""
    left = seconds
    while True:
        timer, began = Timer(left, child.kill), monotonic()
        if seconds:
            timer.start()
        try:
            answer = next(answers, None)
        finally:
            timer.cancel()
        left -= monotonic() - began
        if answer is None:
            return
        yield answer


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except Broken as error:
        raise ReaderError("costly", _COSTLY) from error


@contextmanager
def _with_descriptor(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Yields the file itself, or a copy on disk of one that is in memory."""
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
