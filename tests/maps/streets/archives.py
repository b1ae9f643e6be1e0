"""Small PMTiles files, written by the book: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md"""

import gzip
import itertools
import json
import struct

KINDS = {"mvt": 1, "png": 2, "jpeg": 3}
BOX = (24.93, 60.16, 24.96, 60.18)


def varint(number):
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def directory(entries):
    """Of (tile, offset, length, run), in the order of tiles."""
    tiles, offsets, lengths, runs = zip(*entries, strict=True)
    steps = [tiles[0], *(after - before for before, after in itertools.pairwise(tiles))]
    columns = [steps, runs, lengths, [offset + 1 for offset in offsets]]
    numbers = [len(entries), *(number for column in columns for number in column)]
    return gzip.compress(b"".join(map(varint, numbers)))


def archive(tiles, *, kind="png", box=BOX, metadata=None, zooms=(0, 14), by_leaves=False):
    """tiles: content by the number of the tile on the file's curve."""
    content, entries = b"", []
    for number, tile in sorted(tiles.items()):
        entries.append((number, len(content), len(tile), 1))
        content += tile
    root, leaves = directory(entries), b""
    if by_leaves:
        parts = [directory([entry]) for entry in entries]
        places = [sum(map(len, parts[:at])) for at in range(len(parts))]
        pointers = zip(entries, places, parts, strict=True)
        root = directory([(entry[0], place, len(part), 0) for entry, place, part in pointers])
        leaves = b"".join(parts)
    described = gzip.compress(json.dumps(metadata or {}).encode())
    lengths = [len(root), len(described), len(leaves), len(content)]
    places = [127 + sum(lengths[:at]) for at in range(4)]
    spans = [number for span in zip(places, lengths, strict=True) for number in span]
    corners = [round(degrees * 1e7) for degrees in box]
    header = struct.pack(
        "<7sB11Q6B4iB2i",
        b"PMTiles",
        3,
        *spans,
        *[len(tiles)] * 3,
        *(1, 2, 1, KINDS[kind], *zooms),
        *corners,
        zooms[1],
        *corners[:2],
    )
    return header + root + described + leaves + content
