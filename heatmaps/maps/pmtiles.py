"""Reads PMTiles files, version 3: many map tiles in one file (https://github.com/protomaps/PMTiles)."""

import json
import os
import struct
import zlib
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self

VECTOR: Final = "mvt"
FINEST_ZOOM: Final = 26
_TYPES: Final = {1: VECTOR, 2: "png", 3: "jpeg", 4: "webp", 5: "avif"}
_COMPRESSIONS: Final = {1: "none", 2: "gzip"}
_HEADER: Final = struct.Struct("<7sB11Q6B4iB2i")
_MOST_BYTES: Final = 16 * 2**20  # of a directory or the metadata, unpacked, and of a tile
_MOST_LEAVES: Final = 4  # from the root to a tile


class NotReadable(ValueError):  # noqa: N818 - reads as what it says
    """Says what is wrong with the file, in words that follow its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    tile: int
    offset: int
    length: int
    run: int  # of tiles with this content; 0: a directory of further entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """Reads a file as it was when it was opened; `version` names its content in addresses and ETags."""

    path: Path
    version: str
    size_bytes: int
    kind: str  # `VECTOR`, or the format of its pictures
    packed: str  # how each tile is: "none" or "gzip"
    zooms: tuple[int, int]
    bounds: tuple[float, float, float, float]  # west, south, east, north, in degrees
    root: tuple[int, int]  # where it is, and its length
    metadata_at: tuple[int, int]
    leaves_at: int
    tiles_at: int
    gzipped: bool  # directories and metadata

    @classmethod
    def open(cls, path: Path) -> Self:
        """Opens an archive. Errors: `NotReadable`, OSError."""
        with path.open("rb") as file:
            about, header = os.fstat(file.fileno()), file.read(_HEADER.size)
        if len(header) < _HEADER.size or header[:8] != b"PMTiles\x03":
            raise NotReadable("is not a PMTiles file of version 3")
        _, _, *numbers = _HEADER.unpack(header)
        root, root_length, metadata, metadata_length, leaves, _, tiles = numbers[:7]
        _, internal, packed, kind, low, high, *degrees = numbers[11:]
        if kind not in _TYPES or packed not in _COMPRESSIONS or internal not in _COMPRESSIONS:
            raise NotReadable("has tiles of an unknown kind: vector tiles, PNG, JPEG, WebP or AVIF are known")
        west, south, east, north = (value / 1e7 for value in degrees[:4])
        if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
            raise NotReadable(f"says that it covers {west},{south},{east},{north}, which is no box")
        return cls(
            path=path,
            version=version_of(about),
            size_bytes=about.st_size,
            kind=_TYPES[kind],
            packed=_COMPRESSIONS[packed],
            zooms=(low, high),
            bounds=(west, south, east, north),
            root=(root, root_length),
            metadata_at=(metadata, metadata_length),
            leaves_at=leaves,
            tiles_at=tiles,
            gzipped=_COMPRESSIONS[internal] == "gzip",
        )

    @property
    def metadata(self) -> dict[str, Any]:
        """Reads what the file says of itself. Errors: `NotReadable`, OSError."""
        try:
            metadata = json.loads(self._unpacked(*self.metadata_at) or b"{}")
        except ValueError as error:
            raise NotReadable(f"has metadata that are not JSON ({error})") from None
        return metadata if isinstance(metadata, dict) else {}

    def tile(self, zoom: int, x: int, y: int) -> bytes:
        """Returns the tile as it is packed; empty where there is none. Errors: `NotReadable`, OSError."""
        if not (0 <= zoom <= FINEST_ZOOM and 0 <= x < 1 << zoom and 0 <= y < 1 << zoom):
            return b""
        number, place = tile_number(zoom, x, y), self.root
        for _ in range(_MOST_LEAVES):
            entries = _directory(self, *place)
            at = bisect_right(entries, number, key=lambda entry: entry.tile) - 1
            entry = entries[at] if at >= 0 else None
            if entry is None or (entry.run and number >= entry.tile + entry.run):
                return b""
            if entry.run:
                return self.read(self.tiles_at + entry.offset, entry.length)
            place = self.leaves_at + entry.offset, entry.length
        raise NotReadable("has directories in directories without an end")

    def read(self, offset: int, length: int) -> bytes:
        """Reads some of its bytes. Errors: `NotReadable` for more than a tile may have, OSError."""
        if length > _MOST_BYTES:
            raise NotReadable(f"has a part of more than {_MOST_BYTES} bytes")
        with self.path.open("rb") as file:
            return os.pread(file.fileno(), length, offset)

    def _unpacked(self, offset: int, length: int) -> bytes:
        content = self.read(offset, length)
        if not self.gzipped:
            return content
        try:
            return zlib.decompressobj(wbits=31).decompress(content, _MOST_BYTES)
        except zlib.error as error:
            raise NotReadable(f"is damaged: {error}") from None


def version_of(about: os.stat_result) -> str:
    """Returns another version whenever a file was replaced or written to."""
    return f"{about.st_size:x}-{about.st_mtime_ns:x}-{about.st_ino:x}"


def tile_number(zoom: int, x: int, y: int) -> int:
    """Numbers a tile on the file's curve: all coarser zooms, then Hilbert's curve through this one."""
    number = ((1 << 2 * zoom) - 1) // 3
    for level in range(zoom - 1, -1, -1):
        side = 1 << level
        right, down = (x >> level) & 1, (y >> level) & 1
        number += side * side * ((3 * right) ^ down)
        if not down:
            if right:
                x, y = ~x, ~y
            x, y = y, x
    return number


@lru_cache(maxsize=64)
def _directory(archive: Archive, offset: int, length: int) -> tuple[_Entry, ...]:
    """Reads entries by their tiles: four columns of variable integers, the tiles as steps."""
    numbers = _integers(archive._unpacked(offset, length))
    count = numbers[0] if numbers else 0
    if len(numbers) != 1 + 4 * count:
        raise NotReadable("is damaged: a directory is cut off")
    steps, runs, lengths, offsets = (numbers[1 + part * count : 1 + (part + 1) * count] for part in range(4))
    entries, tile, after = list[_Entry](), 0, 0
    for step, run, size, offset_and_one in zip(steps, runs, lengths, offsets, strict=True):
        tile += step
        begin = offset_and_one - 1 if offset_and_one else after  # 0: right behind the one before
        entries.append(_Entry(tile=tile, offset=begin, length=size, run=run))
        after = begin + size
    return tuple(entries)


def _integers(content: bytes) -> list[int]:
    """Reads seven bits a byte, the lowest first; the eighth says that another byte follows."""
    numbers, value, shift = list[int](), 0, 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    return numbers
