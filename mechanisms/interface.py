"""What goes into a mechanism, what comes out of it, and where its randomness comes from."""

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, in_range, positive, power_of_two
from mechanisms.grid import FINEST_LEVEL, Region, morton_decode
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.interval_sums import IntervalSums, Run
from mechanisms.places import PlaceDistances
from mechanisms.point import Point, RecordMeans
from mechanisms.prediction import ErrorBound, PointError
from mechanisms.zones import ZoneShares

DENSE_SIDE_LIMIT: Final = 4096  # cells a side: 128 MB of float64
MASS_LIMIT: Final = 2**62  # total mass units, half of int64 so that noise can be added
_MAGIC: Final = b"HZM1"
_HEADER: Final = struct.Struct("<4sBQ")  # magic with version, level, number of regions


class RandomSource(Protocol):
    """Independent uniform 64-bit words. An argument everywhere, a default nowhere."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """`(count,)` words."""
        ...


@dataclass(frozen=True, slots=True)
class SystemSource:
    """The operating system's cryptographic source; the only one used for anything released."""

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MassMap:
    """The sum of persons' masses over the cells of one level, in integers.

    Neighbours differ by at most `unit` in L1 (one person), 2·unit when a record is replaced.
    Errors: ValueError, without any value in it.
    """

    level: int
    unit: int  # mass units of one person, a power of two
    cells: NDArray[np.int64] = field(repr=False)  # (m,) Morton codes at `level`, ascending, unique
    masses: NDArray[np.int64] = field(repr=False)  # (m,) mass units, above 0

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        power_of_two(1, 2**62, unit=self.unit)
        _freeze(self, cells=np.int64, masses=np.int64)
        if self.cells.size and (self.cells[0] < 0 or self.cells[-1] >= 4**self.level):
            raise ValueError("cells are Morton codes of the level")
        if (self.cells[1:] <= self.cells[:-1]).any():
            raise ValueError("cells must ascend without repetition")
        if (self.masses <= 0).any() or self.masses.sum(dtype=np.float64) >= MASS_LIMIT:
            raise ValueError("masses must be above 0 and sum to less than 2^62")

    def interval_sums(self) -> IntervalSums:
        """What quadtree cells of any level hold."""
        return IntervalSums(level=self.level, runs=(Run.of(self.cells, self.masses),))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heatmap:
    """A released map: disjoint quadtree regions with the mass spread evenly in each.

    A region of level a covers 4^(level-a) cells; what is not listed has the value 0. Regions are put in
    Morton order. Errors: ValueError when regions overlap or a value is negative or not finite.
    """

    level: int
    levels: NDArray[np.uint8] = field(repr=False)  # (k,)
    prefixes: NDArray[np.int64] = field(repr=False)  # (k,) Morton codes at their own level
    values: NDArray[np.float64] = field(repr=False)  # (k,) persons
    standard_errors: NDArray[np.float64] = field(repr=False)  # (k,) persons; nan: not stated

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        _freeze(self, levels=np.uint8, prefixes=np.int64, values=np.float64, standard_errors=np.float64)
        if not (np.isfinite(self.values) & (self.values >= 0)).all():
            raise ValueError("values must be finite and at least 0")
        self._put_in_order()

    def _put_in_order(self) -> None:
        levels = self.levels.astype(np.int64)
        up = 2 * (self.level - levels)
        if (up < 0).any() or (self.prefixes < 0).any() or (self.prefixes >> 2 * levels).any():
            raise ValueError("regions must lie in the grid")
        first = self.prefixes << up
        order = np.argsort(first, kind="stable")
        if (np.diff(first[order]) < (np.int64(1) << up[order])[:-1]).any():
            raise ValueError("regions must not overlap")
        for name in ("levels", "prefixes", "values", "standard_errors"):
            array = getattr(self, name)[order]
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def dense(self) -> NDArray[np.float64]:
        """`(2^level, 2^level)`, row 0 north, column 0 west, sum 1; uniform if every value is 0.

        Errors: `ParameterError` naming `resolution` above 4096 cells a side.
        """
        side = 1 << self.level
        if side > DENSE_SIDE_LIMIT:
            raise ParameterError("resolution", side, f"at most {DENSE_SIDE_LIMIT} for a dense map")
        grid = np.zeros((side, side))
        for level in np.unique(self.levels).tolist():
            self._paint(grid, level)
        total = grid.sum()
        return grid / total if total > 0 else np.full_like(grid, 1 / grid.size)

    def _paint(self, grid: NDArray[np.float64], level: int) -> None:
        chosen = self.levels == level
        across, block = 1 << level, 1 << (self.level - level)
        x, y = morton_decode(self.prefixes[chosen], level)
        density = self.values[chosen] / block**2
        blocks = grid.reshape(across, block, across, block)
        blocks[across - 1 - y, :, x, :] = density[:, np.newaxis, np.newaxis]

    def to_bytes(self) -> bytes:
        """Versioned and compressed; the same map gives the same bytes."""
        arrays = (
            self.levels,
            self.prefixes.astype("<i8"),
            self.values.astype("<f8"),
            self.standard_errors.astype("<f8"),
        )
        body = zlib.compress(b"".join(array.tobytes() for array in arrays), 6)
        return _HEADER.pack(_MAGIC, self.level, self.levels.size) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The map that `to_bytes` wrote. Errors: ValueError for anything else."""
        if len(data) < _HEADER.size or not data.startswith(_MAGIC):
            raise ValueError("not a heatmap of a known version")
        _, level, count = _HEADER.unpack_from(data)
        body = _decompress(data[_HEADER.size :], size=25 * count)  # 1 + 8 + 8 + 8 bytes a region
        return cls(
            level=level,
            levels=np.frombuffer(body, np.uint8, count),
            prefixes=np.frombuffer(body, "<i8", count, count).astype(np.int64),
            values=np.frombuffer(body, "<f8", count, 9 * count).astype(np.float64),
            standard_errors=np.frombuffer(body, "<f8", count, 17 * count).astype(np.float64),
        )

    @property
    def sha256(self) -> str:
        """Hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a release may cost at most."""

    relation: Relation
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    radius_m: Fraction | None = None
    expected_persons: int | None = None  # a public guess or the declared number; steers utility only

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        in_range(0, 1, delta=self.delta)
        if self.radius_m is not None:
            positive(radius_m=self.radius_m)

    @property
    def needed_radius_m(self) -> Fraction:
        """The radius, for mechanisms that cannot do without. Errors: `ParameterError` where there is none."""
        if self.radius_m is None:
            raise ParameterError("radius_m", "missing", "the distance in metres at which epsilon is the loss")
        return self.radius_m


Result: TypeAlias = Heatmap | Point | ZoneShares | PlaceDistances


class Mechanism(Protocol):
    """A frozen value of public parameters; data and randomness are arguments of `release` only."""

    name: ClassVar[str]

    @property
    def relation(self) -> Relation: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def guarantee(self) -> Guarantee: ...


class HeatmapMechanism(Mechanism, Protocol):
    """Integer masses of persons by cell in, a map out."""

    @property
    def resolution(self) -> int:
        """Cells a side, a power of two."""
        ...

    @property
    def unit(self) -> int:
        """Mass units of one person: what `release` expects its masses in. From public parameters."""
        ...

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        """The mechanism that spends at most the target, and as much of it as it can."""
        ...

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        """Draw noise once. Total: nothing about the data makes it fail."""
        ...

    def expected_error(self, *, persons: int) -> ErrorBound:
        """A bound from public facts; `persons` is a public guess or the declared number."""
        ...


class CentroidMechanism(Mechanism, Protocol):
    """The sum of the record means of declared persons in, one point out. Under `REPLACE` only."""

    @property
    def region(self) -> Region: ...

    @property
    def persons(self) -> int:
        """Declared: all who are enrolled."""
        ...

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        """The mechanism whose loss at `target.radius_m` is at most `target.epsilon`, and nearly that."""
        ...

    def release(self, means: RecordMeans, rng: RandomSource) -> Point:
        """Draw once. Total: nothing about the data makes it fail."""
        ...

    def expected_error(self) -> PointError:
        """From public facts."""
        ...


def _freeze(owner: object, **dtypes: type) -> None:
    """Replace arrays by read-only views of them (the caller's own arrays stay as they are)."""
    sizes = set()
    for name, dtype in dtypes.items():
        array = getattr(owner, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ValueError(f"{name} must be a one-dimensional {np.dtype(dtype)} array")
        view = array.view()
        view.flags.writeable = False
        object.__setattr__(owner, name, view)
        sizes.add(array.size)
    if len(sizes) > 1:
        raise ValueError(f"{', '.join(dtypes)} must have the same length")


def _decompress(body: bytes, *, size: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, size + 1)  # the limit keeps a crafted body from growing
    except zlib.error as error:
        raise ValueError("the heatmap is damaged") from error
    if len(content) != size or not stream.eof or stream.unused_data:
        raise ValueError("the heatmap is damaged")
    return content
