"""Reads check-ins of files as columns into memory, for commands that need no database."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.ingest.formats.reader import (
    DEFAULT_OPTIONS,
    NO_TIME,
    Batch,
    Options,
    read_file,
    too_many_rejected,
)
from heatmaps.pseudonyms import user_names
from mechanisms.space.grid import Region

_SHOWN_REJECTIONS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilePoints:
    """Holds check-ins of all files together. What it counts is data: for whoever holds the files."""

    persons: NDArray[np.int64] = field(repr=False)  # (k,) numbered from 0; equal users, equal number
    lat: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    lon: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    times: NDArray[np.int64] | None = field(repr=False)  # (k,) epoch seconds or NO_TIME; None: not read
    rejected: int = field(repr=False)  # rows left out because they are no check-ins
    first_rejections: tuple[str, ...] = field(repr=False)  # "file, line 5: why"


def read_points(
    paths: Sequence[Path],
    *,
    max_rejected_share: Fraction,
    region: Region | None = None,
    options: Options = DEFAULT_OPTIONS,
    data_slice: DataSlice = WHOLE,
    with_times: bool = False,
) -> FilePoints:
    """Reads the check-ins of the files, or those of them in the region and in the period.

    Errors: `ReaderError`, its text beginning with the file's name, also for a file that cannot be opened,
    and with code too_many_rejected when more than that share (the options' own, if they have one) of all rows
    is rejected.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    share = max_rejected_share if options.max_rejected is None else options.max_rejected
    parts, rejections, rows = [], list[str](), 0
    rejected = 0
    for file, batch in ((path, batch) for path in paths for batch in read_file(path, options)):
        inside = _in_period(batch, data_slice)
        if region is not None:
            inside &= region.contains(batch.lat, batch.lon)
        names = user_names.normal(batch.users)
        persons = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
        columns = (persons, batch.lat, batch.lon, *((batch.times,) if with_times else ()))
        parts.append([column[inside] for column in columns])
        rows += len(batch.users) + len(batch.rejected)
        rejected += len(batch.rejected)
        for rejection in batch.rejected[: _SHOWN_REJECTIONS - len(rejections)]:
            rejections.append(f"{file.name}, line {rejection.row}: {rejection.reason}")
    if rejected > share * rows:
        raise too_many_rejected(rejected, rows, share, rejections)
    persons, lat, lon, *times = (np.concatenate(column) for column in zip(*parts, strict=True))
    return FilePoints(
        persons=persons,
        lat=lat,
        lon=lon,
        times=times[0] if times else None,
        rejected=rejected,
        first_rejections=tuple(rejections),
    )


def _in_period(batch: Batch, data_slice: DataSlice) -> NDArray[np.bool_]:
    """Returns which check-ins, (k,), are in the period: those without a time are in none."""
    inside = np.ones(batch.times.size, np.bool_)
    if data_slice.has_period:
        inside &= batch.times != NO_TIME
    if data_slice.since is not None:
        inside &= batch.times >= data_slice.since
    if data_slice.until is not None:
        inside &= batch.times < data_slice.until
    return inside
