"""Check-ins of files as columns in memory, for commands that need no database."""

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
class Points:
    """Check-ins of all files together. What it counts is data: for whoever holds the files."""

    persons: NDArray[np.int64] = field(repr=False)  # (k,) numbered from 0; equal users, equal number
    lat: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    lon: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    rejected: int = field(repr=False)  # rows left out because they are no check-ins
    first_rejections: tuple[str, ...] = field(repr=False)  # "file, line 5: why"


def read_points(
    paths: Sequence[Path],
    *,
    max_rejected_share: Fraction,
    region: Region | None = None,
    options: Options = DEFAULT_OPTIONS,
    data_slice: DataSlice = WHOLE,
) -> Points:
    """The check-ins of the files, or those of them in the region and in the period.

    Errors: `ReaderError`, its text beginning with the file's name, also for a file that cannot be opened,
    and with code too_many_rejected when more than that share (the options' own, if they have one) of all rows
    is rejected.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    share = max_rejected_share if options.max_rejected is None else options.max_rejected
    parts, rejections, rows = [], list[str](), 0
    rejected = 0
    for path, batch in ((one, batch) for one in paths for batch in read_file(one, options)):
        inside = _in_period(batch, data_slice)
        if region is not None:
            inside &= region.contains(batch.lat, batch.lon)
        names = user_names.normal(batch.users)
        persons = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
        parts.append((persons[inside], batch.lat[inside], batch.lon[inside]))
        rows += len(batch.users) + len(batch.rejected)
        rejected += len(batch.rejected)
        for rejection in batch.rejected[: _SHOWN_REJECTIONS - len(rejections)]:
            rejections.append(f"{path.name}, line {rejection.row}: {rejection.reason}")
    if rejected > share * rows:
        raise too_many_rejected(rejected, rows, share, rejections)
    persons, lat, lon = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Points(persons=persons, lat=lat, lon=lon, rejected=rejected, first_rejections=tuple(rejections))


def _in_period(batch: Batch, data_slice: DataSlice) -> NDArray[np.bool_]:
    """Check-ins without a time are in no period."""
    inside = np.ones(batch.times.size, np.bool_)
    if data_slice.has_period:
        inside &= batch.times != NO_TIME
    if data_slice.since is not None:
        inside &= batch.times >= data_slice.since
    if data_slice.until is not None:
        inside &= batch.times < data_slice.until
    return inside
