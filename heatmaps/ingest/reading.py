"""Reads a received file into rows of its staged upload, batch by batch in constant memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self

import numpy as np
from django.conf import settings

from heatmaps import numbers
from heatmaps.ingest import rejected, row_copy, upload_files
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.formats.reader import Batch, Options, read_checkins
from heatmaps.ingest.row_copy import Block
from heatmaps.ingest.staging import Lease
from heatmaps.models import Dataset, RelationChoice, Upload, UserForm
from heatmaps.pseudonyms import keys
from heatmaps.pseudonyms.user_names import SpellingsOfNumbers
from heatmaps.regions import region_of
from mechanisms.space.grid import Region

Progress = Callable[[int, int], None]  # (bytes read, bytes of the file)

# In few large batches a name is looked up, and the database commits, less often.
BATCH_ROWS: Final = 100_000

_TOO_MANY: Final = (
    "this file has more check-ins than the {} that the dataset may hold, a size chosen when it was made; "
    "nothing was stored. Upload to a dataset of a larger size"
)
_LOST: Final = "the file is gone from the server before it was read; please upload it again"


def read(upload: Upload, lease: Lease, progress: Progress) -> None:
    """Commits every row of the file under the upload, a chunk at a time.

    Errors: `ReaderError`, `UploadError`, `keys.KeyFileError`, `LeaseLost`; chunks may be stored by then.
    """
    rejected.remove(upload.pk)  # of a worker that died
    options = Options.from_json(upload.options)
    preparation, tally = _Preparation.of(upload.dataset), _RowCounts()
    try:
        stream = upload_files.opened(upload.pk)
    except OSError as error:
        raise UploadError("file_lost", _LOST) from error
    with stream:
        exact = upload.dataset.user_form == UserForm.DECIMAL
        batches = read_checkins(stream, options=options, batch_rows=BATCH_ROWS, exact_numbers=exact)
        for batch in batches:
            prepared_block = preparation.block(batch)
            rejected.append(upload.pk, batch.rejected, listed=tally.rejected)
            tally.add(batch, prepared_block)
            if tally.accepted > upload.dataset.row_capacity:
                most = numbers.count(upload.dataset.row_capacity)
                raise UploadError("too_many_rows", _TOO_MANY.format(most))
            with lease.renewed(**tally.columns()):
                row_copy.insert(upload.pk, prepared_block.stored)
            progress(tally.bytes_read, upload.size_bytes)
    tally.check(settings.MAX_REJECTED_SHARE if options.max_rejected is None else options.max_rejected)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Prepared:
    stored: Block
    outside: int  # rows, stored or not
    new_names: list[str]  # of the batch, but for those that were in one before


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Preparation:
    """Turns names and degrees into hashes and cells."""

    persons: keys.KnownPersons
    region: Region
    keep_outside: bool

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        return cls(
            persons=keys.KnownPersons(keys.PersonHasher.of(dataset)),
            region=region_of(dataset),
            # REPLACE: a record is everything a person did; its points outside count at the border.
            keep_outside=dataset.relation == RelationChoice.REPLACE,
        )

    def block(self, batch: Batch) -> _Prepared:
        inside = self.region.contains(batch.lat, batch.lon)
        is_kept = np.ones_like(inside) if self.keep_outside else inside
        persons, new_names = self.persons.hashes(batch.name_column)
        stored = Block(
            persons=persons[batch.numbers[is_kept]],
            cells=self.region.morton(batch.lat[is_kept], batch.lon[is_kept]),
            times=batch.times[is_kept],
            outside=~inside[is_kept],
        )
        return _Prepared(stored=stored, outside=int(np.count_nonzero(~inside)), new_names=new_names)


@dataclass(slots=True)
class _RowCounts:
    accepted: int = 0
    outside: int = 0
    rejected: int = 0
    bytes_read: int = 0
    names: SpellingsOfNumbers = field(default_factory=SpellingsOfNumbers)

    def add(self, batch: Batch, prepared_block: _Prepared) -> None:
        self.accepted += batch.numbers.size - prepared_block.outside
        self.outside += prepared_block.outside
        self.rejected += len(batch.rejected)
        self.names.add(prepared_block.new_names)
        self.bytes_read = batch.bytes_read

    def columns(self) -> dict[str, int]:
        return {
            "rows_accepted": self.accepted,
            "rows_outside": self.outside,
            "rows_rejected": self.rejected,
            "names_alike": self.names.count,
            "bytes_read": self.bytes_read,
        }

    def check(self, share: Fraction) -> None:
        total = self.accepted + self.outside + self.rejected
        if self.rejected > share * total:
            raise UploadError(
                "too_many_rejected",
                f"{self.rejected} of {total} rows cannot be used, more than the {numbers.share(share)} that "
                "may be left out; nothing was stored. The list of rejected rows names each with its reason",
            )
