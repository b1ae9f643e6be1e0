"""Counts the rows of files that are no check-ins, and names the first."""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final

from heatmaps.ingest.formats.reader import Batch, Options, too_many_rejected

_SHOWN: Final = 3


@dataclass(slots=True)
class LeftOut:
    """Counts rows of files read together. What it holds is data: for whoever holds the files."""

    rows: int = field(default=0, repr=False)
    rejected: int = field(default=0, repr=False)  # because they are no check-ins
    first: list[str] = field(default_factory=list, repr=False)  # "file, line 5: why"

    def add(self, file: Path, batch: Batch) -> None:
        self.rows += batch.numbers.size + len(batch.rejected)
        self.rejected += len(batch.rejected)
        for rejection in batch.rejected[: _SHOWN - len(self.first)]:
            self.first.append(f"{file.name}, line {rejection.row}: {rejection.reason}")

    def check(self, share: Fraction, options: Options) -> None:
        """Checks that no more than that share of all rows was rejected, or the options' own.

        Errors: `ReaderError` with code too_many_rejected.
        """
        most = share if options.max_rejected is None else options.max_rejected
        if self.rejected > most * self.rows:
            raise too_many_rejected(self.rejected, self.rows, most, self.first)
