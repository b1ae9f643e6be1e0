"""Saves a map and its release sheet: both in full or neither, and nothing is overwritten."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from heatmaps.exports import FORMATS, Format, Released, format_of
from heatmaps.guides.release_sheets import KIND
from mechanisms.check import ParameterError


def sheet_path(path: Path) -> Path:
    """Returns the path of a file's release sheet: beside it, with the suffix .json."""
    return path.with_suffix(".json")


def check_target(path: Path, *, resolution: int, inputs: Sequence[Path]) -> Format:
    """Returns the format to write, once everything that can stop the writing was looked at; nothing is
    created.

    Errors: `ParameterError` naming `output` or `resolution`.
    """
    file_format = _format_of(path)
    file_format.check(resolution)
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ParameterError("output", str(path), "a file in a folder that exists and can be written to")
    for target in (path, sheet_path(path)):
        if target.is_dir() or any(_same(target, source) for source in inputs):
            raise ParameterError("output", str(path), "neither a folder nor one of the files that are read")
    if sheet_path(path).exists() and not _is_sheet(sheet_path(path)):
        allowed = f"a name whose release sheet ({sheet_path(path).name}) would not overwrite another file"
        raise ParameterError("output", str(path), allowed)
    return file_format


def save(path: Path, released: Released) -> None:
    """Writes the map and its sheet: each under a temporary name, then renamed. Errors: OSError."""
    content = (json.dumps(released.sheet, indent=2, ensure_ascii=False) + "\n").encode()
    with Replacement(path) as new_map, Replacement(sheet_path(path)) as new_sheet:
        new_sheet.write(lambda stream: stream.write(content))
        new_map.write(lambda stream: _format_of(path).write(released, stream))


class Replacement:
    """Writes a file that takes its name when the block ends well and leaves no trace when it does not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> "Replacement":
        return self

    def write(self, write: Callable[[BinaryIO], object]) -> None:
        with self._temporary.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink(missing_ok=True)


def _format_of(path: Path) -> Format:
    """Returns the format that a file's name ends with. Errors: `ParameterError` naming `output`."""
    endings = [suffix for suffix in FORMATS if path.suffix and path.name.lower().endswith(suffix)]
    return format_of(max(endings, key=len, default=path.suffix))  # .cells.csv is no .csv


def _same(target: Path, source: Path) -> bool:
    return target.exists() and source.exists() and target.samefile(source)


def _is_sheet(path: Path) -> bool:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("kind") == KIND
