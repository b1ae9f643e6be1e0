"""Pins a table's state: each Parquet file's path, size, moment of change and the SHA-256 of its footer.

A footer holds where every page of the file lies and what is in it: another file has another footer.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field
from typing import Any, Final, Self
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from heatmaps.sources.question import TimeKind, UserKind

MAGIC: Final = b"PAR1"
MOST_FILES: Final = 200_000
_TAIL: Final = 8  # bytes: the footer's length and the magic
_LONGEST_FOOTER: Final = 2**26
_LAST_MILLISECOND: Final = (2**63 - 1) // 1000  # from 1970, in either direction
_AT_ONCE: Final = 16  # files that are looked at together
_PATTERNS: Final = frozenset("*?[]{}\\^")  # Spark reads paths as patterns


class TableRefused(Exception):  # noqa: N818 - as the refusals of the ledger
    """Refuses a table as it is; the text is for stewards and names files, columns and types."""

    code: Final = "table_refused"


class FilesChanged(Exception):  # noqa: N818 - as above
    """Says that a file of a version is no longer the one that was pinned, or is gone."""

    code: Final = "files_changed"


class FilesAway(Exception):  # noqa: N818 - as above
    """Says that it cannot be seen now whether files are what they were.

    The store does not answer, or shows nothing.
    """

    code: Final = "files_away"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """Describes one Parquet file as it was."""

    path: str
    size: int  # bytes
    modified_ns: int  # since 1970
    footer_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Holds a table's state. `snapshot` is what its format calls it; empty for plain Parquet folders."""

    snapshot: str
    files: tuple[PinnedFile, ...] = field(repr=False)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self._json()).hexdigest()

    @property
    def paths(self) -> list[str]:
        return [file.path for file in self.files]

    @property
    def size(self) -> int:
        """Returns the bytes of all files."""
        return sum(file.size for file in self.files)

    def to_bytes(self) -> bytes:
        return zlib.compress(self._json())

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        stored = json.loads(zlib.decompress(content))
        return cls(snapshot=stored["snapshot"], files=tuple(PinnedFile(*file) for file in stored["files"]))

    def check(self) -> None:
        """Checks each file down to its footer. Errors: `FilesChanged` for another one; `FilesAway`."""
        _check(self.files, lambda file: _footer(file.path)[0] == file)

    def check_listed(self) -> None:
        """Checks as `check`, by what folders say alone: sizes and moments."""
        _check(self.files, lambda file: _listed(file.path) == (file.size, file.modified_ns))

    def _json(self) -> bytes:
        stored = {"snapshot": self.snapshot, "files": [astuple(file) for file in self.files]}
        return json.dumps(stored, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Pinned:
    """Holds a manifest, and the types that the columns have in all of its files."""

    manifest: Manifest
    kinds: Mapping[str, str]
    rows: int  # of all files, by their footers


def empty(snapshot: str, columns: Mapping[str, "Kind"]) -> Pinned:
    """Returns a table that has no files, as nothing was written yet."""
    kinds = {column: kind.of_nothing for column, kind in columns.items()}
    return Pinned(Manifest(snapshot=snapshot, files=()), kinds, 0)


def pin(snapshot: str, paths: Collection[str], columns: Mapping[str, "Kind"]) -> Pinned:
    """Pins the files as they are now, with each of the columns of one of the kinds that are read.

    Errors: `TableRefused` for a file that is no Parquet file, lacks a column or has another type in it.
    """
    if not paths:
        raise TableRefused("the table has no files")
    if len(paths) > MOST_FILES:
        raise TableRefused(f"the table has {len(paths)} files; at most {MOST_FILES} are read: compact it")
    for path in paths:
        if _PATTERNS.intersection(path):
            raise TableRefused(f"{path} has one of * ? [ ] {{ }} \\ ^ in its name; rename it")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        facts = list(pool.map(lambda path: _file_facts(path, columns), sorted(paths)))
    kinds = {column: _one_kind(column, facts) for column in columns}
    files = tuple(of_file.file for of_file in facts)
    return Pinned(Manifest(snapshot=snapshot, files=files), kinds, sum(of_file.rows for of_file in facts))


def files_below(root: str) -> list[str]:
    """Lists Parquet files of a folder and those below it; names that begin with _ or . are somebody's notes.

    Errors: OSError, `TableRefused` for a file of another name: who opted out may be in it.
    """
    system, inner = _system(root)
    prefix = root[: len(root) - len(inner)] if root.endswith(inner) else ""
    entries = system.get_file_info(pafs.FileSelector(inner.rstrip("/"), recursive=True))
    files = [
        file.path
        for file in entries
        if file.type == pafs.FileType.File
        and not any(part[:1] in "_." for part in file.path[len(inner) :].split("/") if part)
    ]
    for path in files:
        if not path.endswith(".parquet"):
            raise TableRefused(f"{prefix}{path} has no name that ends with .parquet; rename or remove it")
    return [prefix + path for path in files]


def folder_is_here(path: str) -> bool:
    """Tells whether this process sees the folder of a file, on a disk of its own. No network is asked."""
    if not _is_on_disk(path):
        return False
    system, inner = _system(path)
    try:
        folder, _ = system.get_file_info([inner.rpartition("/")[0] or "/", inner])
    except OSError:  # it may not look there: what it would see says nothing
        return False
    return bool(folder.type == pafs.FileType.Directory)


def _is_on_disk(path: str) -> bool:
    return "://" not in path or path.startswith("file://")


# --- columns ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """Says what a column may be: finds the kind's name of a Parquet column, or none."""

    find: Callable[[Any], str | None]
    allowed: str
    of_nothing: str  # of a table without files


@dataclass(frozen=True, slots=True)
class _FileFacts:
    """Holds a file, and some of its footer: with all of the columns 200,000 of them would not fit."""

    file: PinnedFile
    rows: int
    types: Mapping[str, tuple[str, str]]  # column: kind and type


def _user(column: Any) -> str | None:
    logical = json.loads(column.logical_type.to_json())
    if column.physical_type == "BYTE_ARRAY":
        return "text" if logical.get("Type") == "String" else None
    is_whole = column.physical_type in ("INT32", "INT64") and logical.get("Type") in ("Int", "None")
    return "number" if is_whole else None


def _number(column: Any) -> str | None:
    logical = json.loads(column.logical_type.to_json()).get("Type")
    if column.physical_type in ("FLOAT", "DOUBLE"):
        return "double"
    is_whole = column.physical_type in ("INT32", "INT64") and logical in ("Int", "None")
    return "number" if is_whole or logical == "Decimal" else None


def _time(column: Any) -> str | None:
    logical = json.loads(column.logical_type.to_json())
    if logical.get("Type") != "Timestamp" or logical.get("timeUnit") not in ("milliseconds", "microseconds"):
        return None
    return "instant" if logical["isAdjustedToUTC"] else "local"


USER: Final = Kind(_user, "text or whole numbers", "text")
NUMBER: Final = Kind(_number, "numbers", "double")
TIME: Final = Kind(_time, "timestamps in milliseconds or microseconds", "instant")


def user_kind(pinned: Pinned, column: str) -> UserKind:
    return "text" if pinned.kinds[column] == "text" else "number"


def time_kind(pinned: Pinned, column: str | None) -> TimeKind:
    if column is None:
        return "none"
    return "local" if pinned.kinds[column] == "local" else "instant"


def _kind_and_type(path: str, schema: Any, column: str, kind: Kind) -> tuple[str, str]:
    """Returns the kind of a column of a file, and its type in words. Errors: `TableRefused`."""
    fields = [schema.column(number) for number in range(len(schema.names))]
    # A column of a column has the path a.b and the name b; a column may be called a.b, too.
    fields = [field for field in fields if field.name == field.path == column]
    fields = [field for field in fields if field.max_repetition_level == 0]
    if len(fields) != 1:
        raise TableRefused(f"{path} has no column {column}; rewrite the table's files with it")
    name, type_name = kind.find(fields[0]), _type_of(fields[0])
    if name is None:
        raise TableRefused(f"the column {column} of {path} is {type_name}; it must hold {kind.allowed}")
    return name, type_name


def _one_kind(column: str, facts: Iterable[_FileFacts]) -> str:
    """Returns the one kind that a column has in every file, of one type. Errors: `TableRefused`."""
    types: dict[str, str] = {}
    name = ""
    for of_file in facts:
        name, type_name = of_file.types[column]
        types.setdefault(type_name, of_file.file.path)
    if len(types) > 1:
        (type_name, first), (other, second) = list(types.items())[:2]
        raise TableRefused(
            f"the column {column} is {type_name} in {first} and {other} in {second}; rewrite them with "
            "one type"
        )
    return name


def _type_of(column: Any) -> str:
    logical = str(column.logical_type)
    return column.physical_type if logical == "None" else f"{column.physical_type} ({logical})"


# --- files --------------------------------------------------------------------------------------------


def _check(files: Sequence[PinnedFile], is_same: Callable[[PinnedFile], bool]) -> None:
    """Errors: `FilesChanged` where a file is not the same; `FilesAway`."""

    def same(file: PinnedFile) -> bool:
        try:
            return is_same(file)
        except (FileNotFoundError, pa.ArrowException, TableRefused):
            return False
        except OSError:
            raise FilesAway from None

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        if all(pool.map(same, files)):
            return
    # A folder that is not there at all is taken for one that is not mounted.
    if _is_on_disk(files[0].path) and not folder_is_here(files[0].path):
        raise FilesAway
    raise FilesChanged


def _file_facts(path: str, columns: Mapping[str, Kind]) -> _FileFacts:
    try:
        file, footer = _footer(path)
        metadata = pq.read_metadata(pa.BufferReader(footer))
        schema = metadata.schema
    except (OSError, pa.ArrowException):
        raise TableRefused(f"{path} cannot be read") from None
    types = {column: _kind_and_type(path, schema, column, kind) for column, kind in columns.items()}
    for column, kind in columns.items():
        if kind is TIME:
            _check_moments(path, metadata, column)
    return _FileFacts(file, metadata.num_rows, types)


def _check_moments(path: str, metadata: Any, column: str) -> None:
    """Refuses milliseconds that are too many for Spark, as the footer tells. Errors: `TableRefused`."""
    # Spark counts microseconds, and one time that is too late stops every question.
    [place] = [at for at in range(len(metadata.schema)) if metadata.schema.column(at).path == column]
    if json.loads(metadata.schema.column(place).logical_type.to_json())["timeUnit"] != "milliseconds":
        return
    for group in range(metadata.num_row_groups):
        figures = metadata.row_group(group).column(place).statistics
        has_ends = figures is not None and figures.has_min_max
        if has_ends and max(-figures.min_raw, figures.max_raw) > _LAST_MILLISECOND:
            raise TableRefused(f"the column {column} of {path} has a time that Spark cannot read; remove it")
        if figures is None or (figures.num_values and not has_ends):
            raise TableRefused(
                f"the column {column} of {path} has milliseconds without statistics, and one time too late "
                "would stop every question; write microseconds"
            )


def _listed(path: str) -> tuple[int, int]:
    system, inner = _system(path)
    info = system.get_file_info(inner)
    if info.type != pafs.FileType.File:
        raise FileNotFoundError(path)
    return info.size, info.mtime_ns or 0


def _footer(path: str) -> tuple[PinnedFile, bytes]:
    """Reads a file's footer and describes the file. Errors: OSError, `TableRefused`."""
    system, inner = _system(path)
    size, modified = _listed(path)
    with system.open_input_file(inner) as stream:
        tail = stream.read_at(_TAIL, size - _TAIL) if size >= _TAIL else b""
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or not 0 < length <= min(_LONGEST_FOOTER, size - _TAIL):
            raise TableRefused(f"{path} is not a Parquet file, or it is encrypted")
        footer: bytes = stream.read_at(length + _TAIL, size - _TAIL - length)
    return PinnedFile(path, size, modified, hashlib.sha256(footer).hexdigest()), footer


def _system(path: str) -> tuple[Any, str]:
    """Returns the file system of a path, and the path in it."""
    # Paths are taken literally, as Spark does: a % in one stands for itself.
    if "://" not in path:
        return pafs.LocalFileSystem(), path.removeprefix("file:")
    parts = urlsplit(path)
    if parts.scheme == "file":
        return pafs.LocalFileSystem(), path[len("file://") :]
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme  # as Spark calls them
    system, _ = pafs.FileSystem.from_uri(f"{scheme}://{parts.netloc}")
    return system, parts.netloc + path[path.index("://") + 3 + len(parts.netloc) :]
