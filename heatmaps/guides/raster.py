"""Reads a public GeoTIFF as a guide, in a child with limits of memory and time."""

import hashlib
import json
import tempfile
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from heatmaps.children import process
from heatmaps.children.turns import turn
from heatmaps.guides.release_sheets import FileSheet
from mechanisms.check import ParameterError
from mechanisms.guide import SIDE, Guide
from mechanisms.space.grid import Region

MOST_BYTES: Final = 2**26
CPU_SECONDS: Final = 60
_MEMORY_BYTES: Final = 2**29
ALLOWED: Final = (
    f"a GeoTIFF of at most {MOST_BYTES >> 20} MiB that {_MEMORY_BYTES >> 20} MiB of memory and "
    f"{CPU_SECONDS} seconds can read"
)
_LIMITS: Final = process.Limits(
    memory_bytes=_MEMORY_BYTES, cpu_seconds=CPU_SECONDS, file_bytes=2**20, nicer=3
)
_CLOCK_SECONDS: Final = 180.0  # for a machine that is busy with other things
_LONGEST_LINE: Final = 2**16
# Of an answer that no child of ours gives: whoever broke it could say anything.
_UNREADABLE: Final = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
# TIFF and BigTIFF, of either byte order.
_STARTS: Final = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RasterGuide:
    """Holds a guide, and the file that it was read from."""

    guide: Guide
    file_sha256: str
    sheet: FileSheet | None = None  # of a map of Hazemap


def guide_from_raster(path: Path, region: Region) -> Guide:
    """Returns the guide of `read`."""
    return read(path, region).guide


def read(path: Path, region: Region) -> RasterGuide:
    """Reads the first band of a GeoTIFF as shares of the region.

    Values are people in a pixel, not per square kilometre: their sums are kept. A pixel that a cell's edge
    cuts is shared by area: exactly in EPSG:4326, otherwise in steps of at most a 32nd of a cell's sides.
    What has no data or is not a number counts as 0. The file is all that is read: nothing beside it, and
    nothing that it names. Errors: `ParameterError` naming `guide`; Busy.
    """
    try:
        if not path.is_file():
            raise ParameterError("guide", path, "the path of a GeoTIFF on this machine")
        with path.open("rb", buffering=0) as stream:  # the child moves its position, too
            return _read(stream, path, region)
    except OSError as error:
        raise ParameterError("guide", path, f"a file that can be read ({error.strerror})") from error


def _read(stream: FileIO, path: Path, region: Region) -> RasterGuide:
    size = stream.seek(0, 2)
    stream.seek(0)
    if size > MOST_BYTES or stream.read(4) not in _STARTS:
        raise ParameterError("guide", path.name, ALLOWED)
    stream.seek(0)
    with turn(), tempfile.TemporaryFile() as answer:
        descriptors = {"file": stream.fileno(), "answer": answer.fileno()}
        status = process.finished(
            "heatmaps.guides.raster_child",
            json.dumps({**descriptors, "region": list(region)}).encode() + b"\n",
            _LIMITS,
            files=list(descriptors.values()),
            quiet=True,
            seconds=_CLOCK_SECONDS,
        )
        if status:
            raise ParameterError("guide", path.name, ALLOWED)
        try:
            guide, sheet = _answered(answer)
        except ParameterError:
            raise
        except _UNREADABLE as error:
            raise ParameterError("guide", path.name, ALLOWED) from error
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return RasterGuide(guide=guide, file_sha256=digest, sheet=sheet)


def _answered(answer: BinaryIO) -> tuple[Guide, FileSheet | None]:
    """Reads the child's answer. Errors: the child's own refusal."""
    answer.seek(0)
    reply = json.loads(answer.readline(_LONGEST_LINE))
    if "refused" in reply:
        value, allowed = reply["refused"]
        raise ParameterError("guide", value, allowed)
    sheet = None if reply["sheet"] is None else FileSheet.from_json(reply["sheet"])
    return Guide(shares=np.frombuffer(answer.read(8 * SIDE**2), "<i8")), sheet
