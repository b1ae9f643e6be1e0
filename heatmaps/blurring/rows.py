"""Blurs each check-in of a file, streamed from file to file, without database and ledger."""

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps import numbers
from heatmaps.ingest.formats.reader import NO_TIME, Batch, Options, ReaderError, read_file, too_many_rejected
from heatmaps.pseudonyms import user_names
from heatmaps.wording.local import least_of
from mechanisms.check import ParameterError
from mechanisms.local.lattice import cells_of, centres_of
from mechanisms.local.reports import LocalMechanism
from mechanisms.randomness import RandomSource
from mechanisms.space.grid import Region

UNPROTECTED: Final = ("user", "time", "order of the rows", "number of rows")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_REJECTIONS: Final = 3


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts a file's rows, for whoever holds the file."""

    written: int = field(default=0, repr=False)
    outside: int = field(default=0, repr=False)  # at the region's border instead
    left_out: int = field(default=0, repr=False)  # beyond a person's reports
    rejected: int = field(default=0, repr=False)  # no check-ins
    first_rejections: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blur:
    """Holds how each check-in of a file becomes a row of the other."""

    region: Region
    mechanism: LocalMechanism
    options: Options
    max_rejected_share: Fraction
    leave_out: bool = False  # a person's rows beyond the reports that the guarantee covers
    most_rows: int | None = None  # of a file; None: as many as it has

    def check(self, path: Path) -> Tally:
        """Reads the whole file once, so that nothing is written of one that is to be refused.

        Memory grows with the number of persons, not of rows. Errors: `ReaderError`; `ParameterError` naming
        `max_reports` when a person has more rows.
        """
        reports, tally, rows = Counter[str](), Tally(), 0
        for batch in read_file(path, self.options):
            reports.update(user_names.normal(batch.users))
            rows += len(batch.users) + len(batch.rejected)
            if self.most_rows is not None and rows > self.most_rows:
                allowed = numbers.count(self.most_rows)
                raise ReaderError("too_large", f"{path.name} has more than {allowed} rows")
            tally.rejected += len(batch.rejected)
            room = _SHOWN_REJECTIONS - len(tally.first_rejections)
            tally.first_rejections += [f"line {bad.row}: {bad.reason}" for bad in batch.rejected[:room]]
        own = self.options.max_rejected
        share = self.max_rejected_share if own is None else own
        if tally.rejected > share * rows:
            first = tally.first_rejections
            raise too_many_rejected(tally.rejected, rows, share, first, where=f"{path.name}: ")
        most = max(reports.values(), default=0)
        if most > self.mechanism.max_reports and not self.leave_out:
            allowed = f"at least {most}, the most rows of one person, or further rows left out"
            raise ParameterError("max_reports", self.mechanism.max_reports, allowed)
        return tally

    def promise(self) -> dict[str, object]:
        """Returns the cost and the error of each report and of a person's rows, and what is not protected."""
        error, least = self.mechanism.expected_error(), least_of(self.mechanism)
        return {
            "mechanism": self.mechanism.name,
            "max_reports": self.mechanism.max_reports,
            "guarantee": self.mechanism.guarantee.to_json(),
            "per_report": self.mechanism.per_report.to_json(),
            "expected_error": {"expected_m": error.expected_m, "within_m": error.within_m},
            "least_error": {"mean_m": least.mean_m, "worst_m": least.worst_m},
            "unprotected": list(UNPROTECTED),
        }

    def write(self, path: Path, stream: BinaryIO, rng: RandomSource, tally: Tally) -> None:
        """Writes rows `user,time,lat,lon` in the order of the file; the file is read again.

        Errors: as `check`.
        """
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("user", "time", "lat", "lon"))
        reports = Counter[str]()
        for batch in read_file(path, self.options):
            rows = self._covered_rows(batch, reports)
            tally.left_out += len(batch.users) - rows.size
            tally.written += rows.size
            lat, lon = batch.lat[rows], batch.lon[rows]
            tally.outside += int(np.count_nonzero(~self.region.contains(lat, lon)))
            lattice = self.mechanism.lattice
            blurred = self.mechanism.release(cells_of(self.region, lattice, lat, lon), rng)
            columns = (batch.times[rows].tolist(), *centres_of(self.region, lattice, blurred))
            for at, time, to_lat, to_lon in zip(rows.tolist(), *columns, strict=True):
                # As it came, also where a spreadsheet sees a formula: with another name it is another person.
                writer.writerow((batch.users[at], _iso(time), f"{to_lat:.7f}", f"{to_lon:.7f}"))
        text.detach()

    def _covered_rows(self, batch: Batch, reports: Counter[str]) -> NDArray[np.int64]:
        """Returns the places in the batch of each person's first rows, as many as the guarantee covers."""
        rows = []
        for at, user in enumerate(user_names.normal(batch.users)):
            reports[user] += 1
            if reports[user] <= self.mechanism.max_reports:
                rows.append(at)
        if len(rows) < len(batch.users) and not self.leave_out:
            raise ReaderError("changed", "the file changed while it was read; nothing was written")
        return np.array(rows, dtype=np.int64)


def _iso(time: int) -> str:
    return "" if time == NO_TIME else f"{(_EPOCH + timedelta(seconds=time)).isoformat()[:-6]}Z"
