"""Keeps what was released feature by feature, so that a page of them costs what it holds.

The file has a line a feature (GeoJSON), then the features' boxes, where each line begins, and their number.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.exports.content import Released
from heatmaps.exports.geojson import feature_lines
from heatmaps.result_kinds import kind_of_result
from mechanisms.results.heatmap import Heatmap

Box = tuple[float, float, float, float]  # west, south, east, north in degrees; west may be the larger one

_WORD: Final = 8  # bytes of a number
_HEAD: Final = b'{"type": "Feature", '
_NEWLINE: Final = ord("\n")
_WORLD: Final = 180.0
_BOXES_AT_ONCE: Final = 1 << 16


def write_lines(released: Released, stream: BinaryIO) -> None:
    """Writes features in the order of the GeoJSON file, but a map's centres before its squares."""
    boxes, begins, offset = [np.empty((0, 4))], [np.zeros(1, np.int64)], 0
    for lines, bounds in _lines(released):
        stream.write(lines)
        boxes.append(bounds)
        begins.append(np.flatnonzero(np.frombuffer(lines, np.uint8) == _NEWLINE) + 1 + offset)
        offset += len(lines)
    stream.write(b" " * (-offset % _WORD))  # numbers begin at whole words
    each = np.concatenate(boxes)
    for numbers in (each, np.concatenate(begins), np.array([len(each)], np.int64)):
        stream.write(numbers.tobytes())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Features:
    """Reads the features of one file, each line when it is asked for."""

    count: int
    _stream: BinaryIO = field(repr=False)
    _boxes_at: int  # where the boxes begin, bytes

    @classmethod
    def of(cls, stream: BinaryIO) -> "Features":
        """Opens a file that `write_lines` wrote, which stays open."""
        size = stream.seek(0, io.SEEK_END)
        stream.seek(size - _WORD)
        count = int(np.frombuffer(stream.read(_WORD), np.int64)[0])
        return cls(count=count, _stream=stream, _boxes_at=size - _WORD * (1 + (count + 1) + 4 * count))

    def within(self, box: Box | None) -> NDArray[np.int64]:
        """Returns the numbers, from 0, of those whose own box touches one; all for None."""
        if box is None:
            return np.arange(self.count)
        touching = [_touching(boxes, box) + first for first, boxes in self._boxes()]
        return np.concatenate([np.empty(0, np.int64), *touching])

    def read(self, numbers: NDArray[np.int64]) -> list[bytes]:
        """Returns GeoJSON of these; the `id` of each is its number, from 1."""
        places = [self._place(number) for number in numbers.tolist()]
        return [self._line(number, *place) for number, place in zip(numbers.tolist(), places, strict=True)]

    def _boxes(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yields some boxes at a time, and the number of the first of them."""
        self._stream.seek(self._boxes_at)
        for first in range(0, self.count, _BOXES_AT_ONCE):
            count = min(_BOXES_AT_ONCE, self.count - first)
            yield first, np.frombuffer(self._stream.read(count * 4 * _WORD)).reshape(count, 4)

    def _place(self, number: int) -> tuple[int, int]:
        """Tells where a feature's line begins and ends."""
        self._stream.seek(self._boxes_at + _WORD * (4 * self.count + number))
        begin, end = np.frombuffer(self._stream.read(2 * _WORD), np.int64).tolist()
        return begin, end

    def _line(self, number: int, begin: int, end: int) -> bytes:
        self._stream.seek(begin)
        line = self._stream.read(end - begin).rstrip(b",\n")
        return _HEAD + f'"id": {number + 1}, '.encode() + line.removeprefix(_HEAD)


def _touching(boxes: NDArray[np.float64], box: Box) -> NDArray[np.int64]:
    west, south, east, north = box
    spans = [(west, east)] if west <= east else [(west, _WORLD), (-_WORLD, east)]
    is_touched = np.zeros(len(boxes), np.bool_)
    for low, high in spans:
        is_touched |= (boxes[:, 0] <= high) & (boxes[:, 2] >= low)
    return np.flatnonzero(is_touched & (boxes[:, 1] <= north) & (boxes[:, 3] >= south))


def _lines(released: Released) -> Iterator[tuple[bytes, NDArray[np.float64]]]:
    """Yields lines, and the box of each."""
    if isinstance(released.result, Heatmap):
        # Programs learn from the first page what columns and shapes there are.
        yield from feature_lines(released, centres_first=True)
        return
    content = io.BytesIO()
    kind_of_result(released.result).format_of(".geojson").write(released, content)
    for feature in json.loads(content.getvalue())["features"]:
        line = json.dumps(feature, ensure_ascii=False).encode() + b"\n"
        places = np.array(list(_places(feature["geometry"]["coordinates"])))
        yield line, np.concatenate((places.min(axis=0), places.max(axis=0)))[np.newaxis]


def _places(coordinates: Sequence[Any]) -> Iterator[tuple[float, float]]:
    if isinstance(coordinates[0], int | float):
        yield coordinates[0], coordinates[1]
        return
    for part in coordinates:
        yield from _places(part)
