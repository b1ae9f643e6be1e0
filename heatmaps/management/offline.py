"""Draws a map or a central point from files, without a database and without a ledger.

Whoever draws twice from the same people has to add the losses up alone.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.ingest.formats.file_counts import read_counts
from heatmaps.ingest.formats.file_points import read_points
from heatmaps.ingest.formats.left_out import LeftOut
from heatmaps.ingest.formats.reader import DEFAULT_OPTIONS, Options
from mechanisms.check import ParameterError
from mechanisms.mechanism import HeatmapMechanism, ItemsMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.aggregation import item_records, position_sums, record_means
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.means import RecordMeans
from mechanisms.records.row_key import RowKey
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfflineDraw:
    """Holds the released map, and what only the holder of the files may know."""

    heatmap: Heatmap
    left_out: LeftOut
    seconds: dict[str, float] = field(repr=False)  # of read, aggregate and release: they depend on the data

    @property
    def map_sum(self) -> float:
        """Returns the sum of the map as files have it: 1 but for rounding (without mass it is uniform)."""
        total = self.heatmap.values.sum()
        return float((self.heatmap.values / total).sum()) if total > 0 else 1.0


def draw(
    paths: Sequence[Path],
    region: Region,
    mechanism: HeatmapMechanism | ItemsMechanism,
    rng: RandomSource,
    *,
    max_rejected_share: Fraction,
    options: Options = DEFAULT_OPTIONS,
    data_slice: DataSlice = WHOLE,
) -> OfflineDraw:
    """Draws one release from the check-ins of the files inside the region, or its rectangle and period.

    Each person weighs 1 there; for a map of whole records, places outside are at the region's border.
    Users are told apart by name, over all files. Errors: `ReaderError`; `ParameterError` naming `persons`
    where more are in the files than a map of whole records was made for.
    """
    if isinstance(mechanism, ItemsMechanism):
        seconds, left_out, read = _records(
            paths, region, mechanism, max_rejected_share, options, data_slice=data_slice
        )
        with _timed(seconds, "release"):
            heatmap = mechanism.release(read, rng)
        return OfflineDraw(heatmap=heatmap, left_out=left_out, seconds=seconds)
    seconds = dict[str, float]()
    with _timed(seconds, "read"):
        file_counts = read_counts(
            paths,
            region,
            RowKey(level=mechanism.resolution.bit_length() - 1, rectangle=data_slice.rectangle),
            max_rejected_share=max_rejected_share,
            options=options,
            data_slice=data_slice,
        )
    with _timed(seconds, "aggregate"):
        [mass_map] = file_counts.masses(unit=mechanism.unit)
    with _timed(seconds, "release"):
        heatmap = mechanism.release(mass_map, rng)
    return OfflineDraw(heatmap=heatmap, left_out=file_counts.left_out, seconds=seconds)


def _records(
    paths: Sequence[Path],
    region: Region,
    mechanism: ItemsMechanism,
    max_rejected_share: Fraction,
    options: Options,
    *,
    data_slice: DataSlice,
) -> tuple[dict[str, float], LeftOut, ItemRecords]:
    seconds = dict[str, float]()
    with _timed(seconds, "read"):
        points = read_points(
            paths, max_rejected_share=max_rejected_share, options=options, data_slice=data_slice
        )
    with _timed(seconds, "aggregate"):
        level = mechanism.resolution.bit_length() - 1
        cells = region.morton(points.lat, points.lon)
        read = item_records(persons=points.persons, cells=cells, counts=np.ones_like(cells), level=level)
    _check_persons(read.persons, mechanism.persons)
    return seconds, points.left_out, read


def _check_persons(persons: int, enrolled: int) -> None:
    if persons > enrolled:
        raise ParameterError("persons", enrolled, f"at least {persons}, the persons in the files")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeansRead:
    """Holds the means that a central point is drawn from, and the rows that are not in them."""

    means: RecordMeans
    left_out: LeftOut


def means_in_files(
    paths: Sequence[Path],
    region: Region,
    *,
    enrolled: int | None,
    max_rejected_share: Fraction,
    options: Options = DEFAULT_OPTIONS,
) -> MeansRead:
    """Reads the means of all persons' records in the files; places outside the region are at its border.

    enrolled: the declared number of persons; those without check-ins are at the region's centre. None: the
    persons in the files are all there are. Errors: `ReaderError`; `ParameterError` naming `persons`.
    """
    points = read_points(paths, max_rejected_share=max_rejected_share, options=options)
    persons = int(points.persons.max(initial=-1)) + 1
    if persons == 0 and enrolled is None:
        raise ParameterError("persons", 0, "at least one person in the files, or a declared number")
    _check_persons(persons, enrolled or persons)
    counts, columns, rows = position_sums(points.persons, region.morton(points.lat, points.lon))
    means = record_means(counts=counts, columns=columns, rows=rows, enrolled=enrolled or persons)
    return MeansRead(means=means, left_out=points.left_out)


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
