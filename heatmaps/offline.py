"""A map from files, without a database and without a ledger: for whoever holds the files.

Whoever draws twice from the same people has to add the losses up alone.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from heatmaps.ingest.points import Points, read_points
from heatmaps.ingest.reader import DEFAULT_OPTIONS, Options
from mechanisms.grid import Region
from mechanisms.interface import Heatmap, HeatmapMechanism, RandomSource
from mechanisms.records import masses


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """The released map, and what only the holder of the files may know."""

    heatmap: Heatmap
    points: Points
    seconds: dict[str, float] = field(repr=False)  # of read, aggregate and release: they depend on the data

    @property
    def map_sum(self) -> float:
        """Of the released map as files have it: 1 but for rounding (without mass it is uniform)."""
        total = self.heatmap.values.sum()
        return float((self.heatmap.values / total).sum()) if total > 0 else 1.0


def draw(
    paths: Sequence[Path],
    region: Region,
    mechanism: HeatmapMechanism,
    rng: RandomSource,
    *,
    max_rejected_share: Fraction,
    options: Options = DEFAULT_OPTIONS,
) -> Drawn:
    """One release from the check-ins of the files inside the region, where each person weighs 1.

    Users are told apart by name, over all files. Errors: `ReaderError`.
    """
    seconds: dict[str, float] = {}
    with _timed(seconds, "read"):
        points = read_points(paths, region=region, max_rejected_share=max_rejected_share, options=options)
    with _timed(seconds, "aggregate"):
        cells = region.morton(points.lat, points.lon)
        level = mechanism.resolution.bit_length() - 1
        summed = masses(persons=points.persons, cells=cells, level=level, unit=mechanism.unit)
    with _timed(seconds, "release"):
        heatmap = mechanism.release(summed, rng)
    return Drawn(heatmap=heatmap, points=points, seconds=seconds)


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
