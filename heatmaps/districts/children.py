"""Has district files read, and maps added up in them, by a child with limits of memory and time."""

import json
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from heatmaps.children import process
from heatmaps.children.turns import turn
from heatmaps.districts import geojson
from mechanisms.check import ParameterError
from mechanisms.space.grid import Region

CPU_SECONDS: Final = 20
_LIMITS: Final = process.Limits(memory_bytes=2**29, cpu_seconds=CPU_SECONDS, file_bytes=2**24, nicer=3)
_CLOCK_SECONDS: Final = 60.0  # for a machine that is busy with other things
_LONGEST_LINE: Final = 2**22
_ALLOWED: Final = f"what takes less memory, and less than {CPU_SECONDS} seconds: fewer corners"
# Of an answer that no child of ours gives: whoever broke it could say anything.
_UNREADABLE: Final = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


class TooCostly(ParameterError):  # noqa: N818 - reads as what it says
    """Says that the child took more memory or time than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Holds a district file as it is stored: packed GeoJSON of names and polygons."""

    areas: int
    corners: int
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AreaSum:
    """Holds people in an area; numbers as in `mechanisms.results.district_sums.DistrictSum`."""

    name: str
    value: float
    error: float
    share: float
    covered: float
    filled: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedUp:
    """Holds people in areas, in their order."""

    rows: tuple[AreaSum, ...]
    is_bound: bool  # errors are bounds: the truth is within two of them more often than said


def read(body: bytes, *, name_property: str) -> ReadFile:
    """Reads a file that somebody sent. Errors: `ParameterError` naming `file` or `name_property`; Busy."""
    _check_start(body, "file")
    with _believed("file"):
        answer, content = _run_child("reading_child", {"name_property": name_property}, body, field="file")
        return ReadFile(areas=int(answer["areas"]), corners=int(answer["corners"]), content=content)


def add_up(areas: bytes, *, packed: bool, result: bytes, region: Region) -> AddedUp:
    """Adds up people in areas (GeoJSON; packed: as `ReadFile.content`) of a stored map.

    Errors: as `read`, naming `areas` or `release`.
    """
    if not packed:
        _check_start(areas, "areas")
    request = {"area_bytes": len(areas), "packed": packed, "region": list(region)}
    with _believed("areas"):
        answer, _ = _run_child("sums_child", request, areas + result, field="areas")
        rows = tuple(AreaSum(str(name), *map(float, figures)) for name, *figures in answer["rows"])
        return AddedUp(rows=rows, is_bound=bool(answer["is_bound"]))


@contextmanager
def _believed(field: str) -> Iterator[None]:
    """Refuses the file whose child answers what no child of ours does. Errors: TooCostly."""
    try:
        yield
    except ParameterError:
        raise
    except _UNREADABLE as error:
        raise TooCostly(field, "this many polygons", _ALLOWED) from error


def _check_start(body: bytes, field: str) -> None:
    """Refuses what is no object of JSON at once: a child takes longer to start."""
    if body.removeprefix(BOM_UTF8).lstrip()[:1] != b"{":
        raise ParameterError(field, "this text" if body else "nothing", geojson.ALLOWED)


def _run_child(
    child: str, request: Mapping[str, object], body: bytes, *, field: str
) -> tuple[dict[str, Any], bytes]:
    """Returns the line that the child answered with, and the bytes behind it."""
    with turn(), tempfile.TemporaryFile() as answer:
        line = json.dumps({**request, "descriptor": answer.fileno()}).encode()
        status = process.finished(
            f"heatmaps.districts.{child}",
            line + b"\n" + body,
            _LIMITS,
            files=[answer.fileno()],
            quiet=True,
            seconds=_CLOCK_SECONDS,
        )
        if status:
            raise TooCostly(field, "this many polygons", _ALLOWED)
        return _checked(answer)


def _checked(answer: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """Reads the child's answer. Errors: the child's own refusal."""
    answer.seek(0)
    reply: dict[str, Any] = json.loads(answer.readline(_LONGEST_LINE))
    if "refused" in reply:
        parameter, value, allowed = reply["refused"]
        raise ParameterError(str(parameter), value, str(allowed))
    return reply, answer.read()
