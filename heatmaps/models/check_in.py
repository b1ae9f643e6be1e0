"""Keeps check-ins, and where in their table those of an upload are.

A check-in says by a small number whose it is, and there is no index but the key: rows are written in the
order of their keys, so an upload's are found between two of them.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final
from uuid import UUID

from django.db import models
from django.db.models import Q

from heatmaps.models.upload import Upload

MOST_SPANS: Final = 50  # of keys in one condition: SQLite refuses trees of conditions that are 1,000 deep
MOST_NUMBERS: Final = 1000  # in one condition: a statement of PostgreSQL's has room for 65,535 values
GREATEST_KEY: Final = 2**63 - 1
SMALL_GAP: Final = 1000  # check-ins of others that are read faster than left out


class Extent(models.Model):
    """Says between which keys check-ins of an upload are; `id` is the number that they bear.

    An upload whose blocks follow each other has one; a block that came after somebody else's begins another
    one. Rows of others may lie between, whose number is another one: number and keys together select.
    Written with the first of its check-ins, in their transaction, and deleted with the last or after it.
    """

    id = models.AutoField(primary_key=True)  # never used again: rows of before it would be taken for its own
    upload = models.ForeignKey(Upload, models.CASCADE, related_name="extents")
    first = models.BigIntegerField()
    last = models.BigIntegerField()

    def __str__(self) -> str:
        return f"extent {self.pk}"


class CheckIn(models.Model):
    """Holds one check-in: who (keyed hash), where (62-bit Morton code in the region), when (epoch seconds).

    Written with COPY or prepared batches and read by aggregation in the database, never row by row.
    """

    person = models.BigIntegerField()
    person_rest = models.BigIntegerField(default=0, db_default=0)  # of the hash; 0 where it has 63 bits
    cell = models.BigIntegerField()
    time = models.BigIntegerField(null=True)
    # After the columns of eight bytes: PostgreSQL would fill up to the next multiple of eight between them.
    # Without a constraint, which would be checked row by row (a COPY takes twice as long). Every block is
    # written in a transaction that renews the lease of its upload, an UPDATE that must hit the row, and
    # writes the extent. Rows without one would be read by nothing; `verify-ledger` finds them.
    extent = models.ForeignKey(
        Extent, models.DO_NOTHING, related_name="checkins", db_constraint=False, db_index=False
    )
    # REPLACE datasets keep points outside the region, clamped to its border.
    outside = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"check-in {self.pk}"


def of_uploads(uploads: Iterable[Upload | UUID], *, first: int = 0, last: int = GREATEST_KEY) -> Q:
    """Returns the condition of being a check-in of one of these uploads; reads their extents.

    first, last: keys that nothing before and nothing behind is selected of. They are part of the condition's
    own ranges, as SQLite heeds one lower bound alone.
    """
    rows = Extent.objects.filter(upload__in=uploads, last__gte=first, first__lte=last)
    extents = [
        (number, max(first, lowest), min(last, highest))
        for number, lowest, highest in rows.values_list("pk", "first", "last")
    ]
    if not extents:
        return Q(pk__in=[])
    between = Q()
    for span in _spans([(first, last) for _, first, last in extents]):
        between |= Q(pk__range=span)
    if len(extents) > MOST_NUMBERS:
        return between & Q(extent__in=rows.values("pk"))
    # One number is compared faster than a set of one.
    numbers = [number for number, _, _ in extents]
    return between & (Q(extent=numbers[0]) if len(numbers) == 1 else Q(extent__in=numbers))


def _spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns at most `MOST_SPANS` spans of keys that hold all of these; the widest gaps stay out."""
    merged_spans: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged_spans and first <= merged_spans[-1][1] + SMALL_GAP:
            merged_spans[-1] = (merged_spans[-1][0], max(last, merged_spans[-1][1]))
        else:
            merged_spans.append((first, last))
    gaps = [after[0] - before[1] for before, after in pairwise(merged_spans)]
    widest = sorted(range(len(gaps)), key=gaps.__getitem__, reverse=True)[: MOST_SPANS - 1]
    ends = [*sorted(widest), len(gaps)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [(merged_spans[start][0], merged_spans[end][1]) for start, end in zip(starts, ends, strict=True)]
