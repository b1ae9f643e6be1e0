"""Made-up check-ins in columns, millions a second: persons around their own places, those around towns.

Nothing of real data: sizes and spreads are round numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from mechanisms.space.grid import Region

TOWNS = 200
PLACES = 4  # of each person; half of the check-ins are at the first one
TOWN_SIDE, PLACE_SIDE = 0.01, 0.0003  # standard deviations, as shares of the region's side
YEAR = 365 * 24 * 3600  # seconds; times are in the first year of the epoch
BLOCK = 1_000_000  # check-ins made at once
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """`checkins` of at most `persons` persons; some have many, most have few, as 1/rank to the power 0.5."""

    persons: int
    checkins: int
    seed: int = 0

    def write_parquet(self, path: Path, region: Region) -> None:
        """A file as a steward uploads it: user, time, lat, lon."""
        writer = None
        for person, points, times in self.blocks():
            columns = {
                "user": pa.array(person).cast(pa.string()),
                "time": pa.array(times, pa.timestamp("s", "UTC")),
                "lat": region.south + points[1] * (region.north - region.south),
                "lon": region.west + points[0] * (region.east - region.west),
            }
            table = pa.table(columns)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Persons (k,), points (2, k) on the unit square and epoch seconds (k,), in no order of persons."""
        rng = np.random.default_rng(self.seed)
        towns = rng.uniform(0.05, 0.95, (TOWNS, 2))
        homes = towns[rng.integers(TOWNS, size=self.persons)]
        homes += rng.normal(0, TOWN_SIDE, homes.shape)
        for first in range(0, self.checkins, BLOCK):
            yield self._block(rng, homes, min(BLOCK, self.checkins - first))

    def _block(
        self, rng: np.random.Generator, homes: np.ndarray, size: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        person = (self.persons * rng.random(size) ** 2).astype(np.int64)
        place = np.maximum(rng.integers(-PLACES, PLACES, size), 0)
        # A place is the same each time a person is there: from the two numbers, not from the generator.
        shifts = np.stack([_scattered(person * PLACES + place, salt) for salt in (1, 2)], axis=1) - 0.5
        points = homes[person] + 4 * TOWN_SIDE * shifts * (place > 0)[:, np.newaxis]
        points += rng.normal(0, PLACE_SIDE, points.shape)
        return person, np.clip(points, 0, 1 - 1e-9).T, rng.integers(0, YEAR, size)


def hashes(numbers: np.ndarray) -> np.ndarray:
    """63-bit numbers that look like keyed hashes, different ones for different small numbers."""
    mixed = numbers.astype(np.uint64)
    for factor in _MIX:
        # Both steps can be undone: nothing collides before the last bit is dropped, and then hardly ever.
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(factor)
    return (mixed >> np.uint64(1)).astype(np.int64)


def _scattered(numbers: np.ndarray, salt: int) -> np.ndarray:
    """In [0, 1), the same for the same number."""
    return hashes(numbers * 8 + salt) / 2.0**63
