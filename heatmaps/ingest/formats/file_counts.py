"""Counts the check-ins of files by person and cell: for maps, which need no rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.ingest.formats.left_out import LeftOut
from heatmaps.ingest.formats.reader import DEFAULT_OPTIONS, NO_TIME, Batch, Options, read_file
from heatmaps.pseudonyms.name_hashes import NameHasher
from mechanisms.records.key_counts import KeyCounts
from mechanisms.records.mass_map import MassMap
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileCounts:
    """Holds how often each person was in each cell, of all files together: data, for who holds the files."""

    key: RowKey
    counts: KeyCounts = field(repr=False)
    left_out: LeftOut = field(repr=False)

    def masses(self, *, unit: int) -> tuple[MassMap, ...]:
        """Sums the masses of all persons, a map of each bin of the key; a person has one `unit` in all."""
        return self.counts.masses(key=self.key, unit=unit)


def read_counts(
    paths: Sequence[Path],
    region: Region,
    key: RowKey,
    *,
    max_rejected_share: Fraction,
    options: Options = DEFAULT_OPTIONS,
    data_slice: DataSlice = WHOLE,
) -> FileCounts:
    """Counts the check-ins in the region and in the period that have a key.

    Users are told apart by name in normal form C, over all files. Errors: `ReaderError`, its text beginning
    with the file's name, also for a file that cannot be opened, and with code too_many_rejected when more
    than that share (the options' own, if they have one) of all rows is rejected.
    """
    hasher, counts, left_out = NameHasher.with_random_keys(), KeyCounts(), LeftOut()
    for path in paths:
        for batch in read_file(path, options, names_once=False):
            left_out.add(path, batch)
            rows = _rows(in_period(batch, data_slice) & region.contains(batch.lat, batch.lon))
            cells = region.morton(batch.lat[rows], batch.lon[rows])
            keyed_rows, keys = key.of_rows(cells, batch.times[rows])
            numbers = batch.numbers[rows][keyed_rows]
            counts.add(hasher.tags(batch.name_column).take(numbers), keys)
    left_out.check(max_rejected_share, options)
    return FileCounts(key=key, counts=counts, left_out=left_out)


def in_period(batch: Batch, data_slice: DataSlice) -> NDArray[np.bool_]:
    """Returns which check-ins, (k,), are in the period: those without a time are in none."""
    inside = np.ones(batch.times.size, np.bool_)
    if data_slice.has_period:
        inside &= batch.times != NO_TIME
    if data_slice.since is not None:
        inside &= batch.times >= data_slice.since
    if data_slice.until is not None:
        inside &= batch.times < data_slice.until
    return inside


def _rows(inside: NDArray[np.bool_]) -> slice | NDArray[np.int64]:
    """Returns an index of the rows, which copies nothing where it is all of them."""
    return slice(None) if inside.all() else np.flatnonzero(inside)
