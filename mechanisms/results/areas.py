"""Holds a released map of centres and their areas: each area is all that is nearest to its centre."""

import struct
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import morton_decode
from mechanisms.space.l1_distance import nearest

MAGIC: Final = b"HZA1"
_HEADER: Final = struct.Struct("<4sI")  # magic with version, number of centres


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas(Heatmap):
    """Spreads a map's mass evenly over each area, with the centres, the heaviest area first.

    Errors: as `Heatmap`; ValueError for centres outside the grid, or a negative mass.
    """

    centres: NDArray[np.int64] = field(repr=False)  # (k,) Morton codes at `level`
    masses: NDArray[np.float64] = field(repr=False)  # (k,) persons in each area

    def __post_init__(self) -> None:
        Heatmap.__post_init__(self)  # super() knows the class only as it was before slots were added
        if self.centres.shape != self.masses.shape or self.centres.ndim != 1:
            raise ValueError("every centre has one mass")
        if not (np.isfinite(self.masses) & (self.masses >= 0)).all() or (self.centres < 0).any():
            raise ValueError("masses are at least 0 and centres cells of the grid")
        if (self.centres >> 2 * self.level).any():
            raise ValueError("centres must lie in the grid")
        for name in ("centres", "masses"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    def around(cls, level: int, centres: NDArray[np.int64], masses: NDArray[np.float64]) -> Self:
        """Returns the areas of centres on the grid of a level: cells by their nearest centre in L1, the first
        of equally near ones."""
        levels, prefixes, owner = _squares(owners(level, centres), level)
        cells = 4.0 ** (level - levels)
        area = np.bincount(owner, cells, minlength=masses.size)
        values = masses[owner] * cells / area[owner] if masses.size else np.zeros(owner.size)
        return cls(
            level=level,
            levels=levels.astype(np.uint8),
            prefixes=prefixes,
            values=values,
            standard_errors=np.full(values.size, np.nan),
            centres=centres,
            masses=masses,
        )

    def to_bytes(self) -> bytes:
        """Returns `Heatmap.to_bytes` after the centres."""
        arrays = self.centres.astype("<i8").tobytes() + self.masses.astype("<f8").tobytes()
        return _HEADER.pack(MAGIC, self.centres.size) + arrays + Heatmap.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the map that `to_bytes` wrote. Errors: ValueError for anything else."""
        if len(data) < _HEADER.size or not data.startswith(MAGIC):
            raise ValueError("not a map of areas of a known version")
        _, count = _HEADER.unpack_from(data)
        start, end = _HEADER.size + 8 * count, _HEADER.size + 16 * count
        if len(data) < end:
            raise ValueError("the map of areas is damaged")
        heatmap = Heatmap.from_bytes(data[end:])
        return cls(
            level=heatmap.level,
            levels=heatmap.levels,
            prefixes=heatmap.prefixes,
            values=heatmap.values,
            standard_errors=heatmap.standard_errors,
            centres=np.frombuffer(data[_HEADER.size : start], "<i8").astype(np.int64),
            masses=np.frombuffer(data[start:end], "<f8").astype(np.float64),
        )


def owners(level: int, centres: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns `(4^level,)` the place of the nearest centre of every cell in Morton order;
    0 without centres.
    """
    if not centres.size:
        return np.zeros(4**level, np.int64)
    cells = np.stack(morton_decode(np.arange(4**level), level), axis=1)
    return nearest(cells, np.stack(morton_decode(centres, level), axis=1))


def _squares(
    owner: NDArray[np.int64], level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns (levels, prefixes, owners) of the largest quadtree squares that one centre has."""
    blocks = []
    for finer in range(level, 0, -1):
        four = owner.reshape(-1, 4)
        whole = (four == four[:, :1]).all(axis=1) & (four[:, 0] >= 0)
        left = np.flatnonzero(~np.repeat(whole, 4) & (owner >= 0))
        blocks.append((np.full(left.size, finer), left, owner[left]))
        owner = np.where(whole, four[:, 0], -1)
    if owner[0] >= 0:
        blocks.append((np.zeros(1, np.int64), np.zeros(1, np.int64), owner))
    levels, prefixes, centres = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return levels, prefixes, centres
