"""Serializes a released map to bytes, versioned and compressed.

Version 1 has regions alone; version 2 adds what else is said of errors, version 3 what was measured. A map
that says nothing more is written as the version before, so that what was released keeps its hash.
"""

import math
import struct
import zlib
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.measurements import Measurements
from mechanisms.results.significance import SignificantSquares

_FIRST: Final = b"HZM1"
_SECOND: Final = b"HZM2"
_THIRD: Final = b"HZM3"
_HEADER: Final = struct.Struct("<4sBQ")  # magic with version, level, number of regions
# Number of squares told apart (-1: nothing is said), which of `OPTIONAL` follow, and the other numbers.
_MORE: Final = struct.Struct("<qBdddd")
_BLOCK: Final = struct.Struct("<Q")  # bytes of what was measured
_REGION: Final = 1 + 8 + 8 + 8  # bytes
_SQUARE: Final = 1 + 8  # bytes
OPTIONAL: Final = ("lows", "highs", "deviations")  # arrays that a map may have, 8 bytes a region


class Parts(NamedTuple):
    """Holds the parts of a `mechanisms.results.heatmap.Heatmap`."""

    level: int
    levels: NDArray[np.uint8]
    prefixes: NDArray[np.int64]
    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    significant: SignificantSquares | None
    cut_error: float
    lows: NDArray[np.float64] | None
    highs: NDArray[np.float64] | None
    deviations: NDArray[np.float64] | None
    significance_floor: float
    total: float
    total_error: float
    measurements: Measurements | None


def packed(parts: Parts) -> bytes:
    """Returns bytes; the same parts give the same bytes."""
    arrays = [
        parts.levels,
        parts.prefixes.astype("<i8"),
        parts.values.astype("<f8"),
        parts.standard_errors.astype("<f8"),
    ]
    names = [name for name in OPTIONAL if getattr(parts, name) is not None]
    numbers = (parts.cut_error, parts.significance_floor, parts.total, parts.total_error)
    measured = parts.measurements
    if measured is None and parts.significant is None and not names and all(map(math.isnan, numbers)):
        return _HEADER.pack(_FIRST, parts.level, parts.levels.size) + _compressed(arrays)
    arrays += [getattr(parts, name).astype("<f8") for name in names]
    count = -1
    if parts.significant is not None:
        count = parts.significant.levels.size
        arrays += [parts.significant.levels, parts.significant.prefixes.astype("<i8")]
    which = sum(1 << OPTIONAL.index(name) for name in names)
    more = _MORE.pack(count, which, *numbers)
    if measured is None:
        return _HEADER.pack(_SECOND, parts.level, parts.levels.size) + more + _compressed(arrays)
    block = measured.to_bytes()
    arrays.append(np.frombuffer(block, np.uint8))
    more += _BLOCK.pack(len(block))
    return _HEADER.pack(_THIRD, parts.level, parts.levels.size) + more + _compressed(arrays)


def unpacked(data: bytes) -> Parts:
    """Reads what `packed` wrote, of any version. Errors: ValueError for anything else."""
    if len(data) < _HEADER.size or not data.startswith((_FIRST, _SECOND, _THIRD)):
        raise ValueError("not a heatmap of a known version")
    magic, level, count = _HEADER.unpack_from(data)
    start, squares, which, numbers, block = _HEADER.size, -1, 0, [math.nan] * 4, 0
    if magic != _FIRST:
        if len(data) < start + _MORE.size + _BLOCK.size:
            raise ValueError("the heatmap is damaged")
        squares, which, *numbers = _MORE.unpack_from(data, start)
        start += _MORE.size
    if magic == _THIRD:
        (block,) = _BLOCK.unpack_from(data, start)
        start += _BLOCK.size
    cut_error, significance_floor, total, total_error = numbers
    names = [name for place, name in enumerate(OPTIONAL) if which >> place & 1]
    regions_end = (_REGION + 8 * len(names)) * count
    significant_end = regions_end + _SQUARE * max(squares, 0)
    body = _decompressed(data[start:], size=significant_end + block)
    optional = {name: _floats(body, count, place=place) for place, name in enumerate(names, start=2)}
    return Parts(
        level=level,
        levels=np.frombuffer(body, np.uint8, count),
        prefixes=np.frombuffer(body, "<i8", count, count).astype(np.int64),
        values=_floats(body, count, place=0),
        standard_errors=_floats(body, count, place=1),
        significant=None if squares < 0 else _significant(body[regions_end:], squares),
        cut_error=cut_error,
        **(dict.fromkeys(OPTIONAL) | optional),
        significance_floor=significance_floor,
        total=total,
        total_error=total_error,
        measurements=Measurements.from_bytes(body[significant_end:]) if magic == _THIRD else None,
    )


def _floats(body: bytes, count: int, *, place: int) -> NDArray[np.float64]:
    """Reads, of the arrays of numbers after levels and prefixes, the one in that place."""
    return np.frombuffer(body, "<f8", count, (9 + 8 * place) * count).astype(np.float64)


def _significant(body: bytes, count: int) -> SignificantSquares:
    return SignificantSquares(
        levels=np.frombuffer(body, np.uint8, count),
        prefixes=np.frombuffer(body, "<i8", count, count).astype(np.int64),
    )


def _compressed(arrays: list[NDArray[np.generic]]) -> bytes:
    return zlib.compress(b"".join(array.tobytes() for array in arrays), 6)


def _decompressed(body: bytes, *, size: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, size + 1)  # the limit keeps a crafted body from growing
    except (zlib.error, OverflowError) as error:  # a crafted size need not fit a machine word
        raise ValueError("the heatmap is damaged") from error
    if len(content) != size or not stream.eof or stream.unused_data:
        raise ValueError("the heatmap is damaged")
    return content
