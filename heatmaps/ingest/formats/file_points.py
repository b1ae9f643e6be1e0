"""Reads check-ins of files as rows into memory, for commands that need no database, and not only sums."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heatmaps.data_slice import WHOLE, DataSlice
from heatmaps.ingest.formats.file_counts import in_period
from heatmaps.ingest.formats.left_out import LeftOut
from heatmaps.ingest.formats.reader import DEFAULT_OPTIONS, Batch, Options, read_file
from heatmaps.pseudonyms import user_names
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilePoints:
    """Holds check-ins of all files together. What it counts is data: for whoever holds the files."""

    persons: NDArray[np.int64] = field(repr=False)  # (k,) numbered from 0; equal users, equal number
    lat: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    lon: NDArray[np.float64] = field(repr=False)  # (k,) degrees
    left_out: LeftOut = field(repr=False)


def read_points(
    paths: Sequence[Path],
    *,
    max_rejected_share: Fraction,
    region: Region | None = None,
    options: Options = DEFAULT_OPTIONS,
    data_slice: DataSlice = WHOLE,
) -> FilePoints:
    """Reads the check-ins of the files, or those of them in the region and in the period.

    Persons are numbered in the order in which they come. Errors: `ReaderError`, its text beginning with the
    file's name, also for a file that cannot be opened, and with code too_many_rejected when more than that
    share (the options' own, if they have one) of all rows is rejected.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    parts, left_out = [], LeftOut()
    for file, batch in ((path, batch) for path in paths for batch in read_file(path, options)):
        left_out.add(file, batch)
        inside = in_period(batch, data_slice)
        if region is not None:
            inside &= region.contains(batch.lat, batch.lon)
        persons = _persons(batch, numbers)
        parts.append([column[inside] for column in (persons, batch.lat, batch.lon)])
    left_out.check(max_rejected_share, options)
    persons, lat, lon = (np.concatenate(column) for column in zip(*parts, strict=True))
    return FilePoints(persons=persons, lat=lat, lon=lon, left_out=left_out)


def _persons(batch: Batch, numbers: defaultdict[str, int]) -> NDArray[np.int64]:
    """Returns each row's person. numbers: of the names that were there, to which new ones are added."""
    names = user_names.normal(batch.names)
    _, first_rows = np.unique(batch.numbers, return_index=True)
    person_of_name = np.empty(len(names), np.int64)
    for place in np.argsort(first_rows).tolist():
        person_of_name[place] = numbers[names[place]]
    return person_of_name[batch.numbers]
