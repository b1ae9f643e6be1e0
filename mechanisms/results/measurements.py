"""Keeps what was measured for a map, with its noise: a later map of the same data can count it in."""

import struct
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.frozen_arrays import freeze

# Number of measurements, `grid_level`, `plain_from` or -1, `is_even`, number of shares.
_HEADER: Final = struct.Struct("<BBqBI")
_PART: Final = struct.Struct("<dQ")  # scale, number of nodes
_NODE: Final = 1 + 8 + 8  # bytes
_MOST_PARTS: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurement:
    """Holds noisy masses of disjoint nodes of a binary tree, together its root, all with the same noise."""

    scale_persons: float  # of the Laplace noise
    depths: NDArray[np.uint8] = field(repr=False)  # (k,)
    codes: NDArray[np.int64] = field(repr=False)  # (k,) of `depths` bits
    noisy: NDArray[np.float64] = field(repr=False)  # (k,) persons

    def __post_init__(self) -> None:
        freeze(self, depths=np.uint8, codes=np.int64, noisy=np.float64)
        if not (0 < self.scale_persons < np.inf and np.isfinite(self.noisy).all()):
            raise ValueError("what was measured must be finite, its noise above 0")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """Holds measurements of the nodes of one tree: the quadtree, or that of a guide's shares on a grid."""

    parts: tuple[Measurement, ...]
    grid_level: int = 0  # of the guide's tree
    shares: NDArray[np.int64] | None = field(default=None, repr=False)  # None: the quadtree
    plain_from: int | None = None  # depth from which on the guide's tree has halves of equal sides
    is_even: bool = False  # the map spreads people evenly over the nodes: the guide does not fit

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= _MOST_PARTS:
            raise ValueError(f"1 to {_MOST_PARTS} measurements")
        if self.shares is not None:
            freeze(self, shares=np.int64)

    @property
    def deepest(self) -> int:
        """Returns the depth of the deepest node."""
        return max(int(part.depths.max()) for part in self.parts)

    @property
    def sets_guide_aside(self) -> bool:
        """Returns whether the first look or what was measured in the end found that the guide does not fit.

        Of a map that goes on from another of the same people, that other one's guide is meant: not so.
        """
        return (self.plain_from is not None or self.is_even) and len(self.parts) == 1

    def to_bytes(self) -> bytes:
        """Returns bytes; the same measurements give the same bytes."""
        shares = b"" if self.shares is None else self.shares.astype("<i8").tobytes()
        plain_from = -1 if self.plain_from is None else self.plain_from
        header = _HEADER.pack(len(self.parts), self.grid_level, plain_from, self.is_even, len(shares) // 8)
        packed = [header, shares]
        for part in self.parts:
            packed += [
                _PART.pack(part.scale_persons, part.depths.size),
                part.depths.tobytes(),
                part.codes.astype("<i8").tobytes(),
                part.noisy.astype("<f8").tobytes(),
            ]
        return b"".join(packed)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote. Errors: ValueError for anything else."""
        try:
            count, grid_level, plain_from, is_even, size = _HEADER.unpack_from(data)
            at = _HEADER.size
            shares = np.frombuffer(data, "<i8", size, at).astype(np.int64)
            at += 8 * size
            parts = []
            for _ in range(count):
                scale, nodes = _PART.unpack_from(data, at)
                at += _PART.size
                depths = np.frombuffer(data, np.uint8, nodes, at)
                codes = np.frombuffer(data, "<i8", nodes, at + nodes).astype(np.int64)
                noisy = np.frombuffer(data, "<f8", nodes, at + 9 * nodes).astype(np.float64)
                parts.append(Measurement(scale_persons=scale, depths=depths, codes=codes, noisy=noisy))
                at += _NODE * nodes
        except (struct.error, OverflowError) as error:  # a crafted size need not fit a machine word
            raise ValueError("what was measured is damaged") from error
        if at != len(data):
            raise ValueError("what was measured is damaged")
        return cls(
            parts=tuple(parts),
            grid_level=grid_level,
            shares=shares if size else None,
            plain_from=None if plain_from < 0 else plain_from,
            is_even=is_even != 0,
        )
