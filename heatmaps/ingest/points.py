"""Check-ins of files as columns in memory, for commands that need no database."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.reader import (
    DEFAULT_OPTIONS,
    NO_TIME,
    Batch,
    Options,
    ReaderError,
    Rejection,
    read_checkins,
)
from heatmaps.slices import WHOLE, Slice
from mechanisms.grid import Region

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
    asked: Slice = WHOLE,
) -> Points:
    """The check-ins of the files, or those of them in the region and in the asked period.

    Errors: `ReaderError`, its text beginning with the file's name, also for a file that cannot be opened,
    and with code too_many_rejected when more than that share (the options' own, if they have one) of all rows
    is rejected.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    share = max_rejected_share if options.max_rejected is None else options.max_rejected
    parts, rejections, rows = [], list[str](), 0
    rejected = 0
    for path, batch in _batches(paths, options):
        inside = _in_period(batch, asked)
        if region is not None:
            inside &= region.contains(batch.lat, batch.lon)
        persons = np.fromiter(map(numbers.__getitem__, batch.users), np.int64, len(batch.users))
        parts.append((persons[inside], batch.lat[inside], batch.lon[inside]))
        rows += len(batch.users) + len(batch.rejected)
        rejected += len(batch.rejected)
        rejections += _shown(path, batch.rejected[: _SHOWN_REJECTIONS - len(rejections)])
    if rejected > share * rows:
        raise ReaderError("too_many_rejected", _too_many(rejected, rows, share, rejections))
    persons, lat, lon = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Points(persons=persons, lat=lat, lon=lon, rejected=rejected, first_rejections=tuple(rejections))


def _in_period(batch: Batch, asked: Slice) -> NDArray[np.bool_]:
    """Check-ins without a time are in no period."""
    inside = np.ones(batch.times.size, np.bool_)
    if asked.has_period:
        inside &= batch.times != NO_TIME
    if asked.since is not None:
        inside &= batch.times >= asked.since
    if asked.until is not None:
        inside &= batch.times < asked.until
    return inside


def _batches(paths: Sequence[Path], options: Options) -> Iterator[tuple[Path, Batch]]:
    for path in paths:
        try:
            with path.open("rb") as stream:
                for batch in read_checkins(stream, options=options):
                    yield path, batch
        except ReaderError as error:
            raise ReaderError(error.code, f"{path.name}: {error}") from error
        except OSError as error:
            raise ReaderError("unreadable", f"{path.name}: {error.strerror or 'cannot be read'}") from error


def _shown(path: Path, rejections: Sequence[Rejection]) -> list[str]:
    return [f"{path.name}, line {rejection.row}: {rejection.reason}" for rejection in rejections]


def _too_many(rejected: int, rows: int, share: Fraction, shown: Sequence[str]) -> str:
    return (
        f"{rejected} of {rows} rows are no check-ins, more than the {float(share):.2%} that may be left out; "
        f"the first: {'; '.join(shown)}"
    )
