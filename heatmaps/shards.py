"""Who reads which share of a large release: the moves of its shard rows, each by one conditional UPDATE.

| move | from | to | who |
| --- | --- | --- | --- |
| spread | (none) | waiting | the worker that spent the release, after that was committed |
| claim | waiting, or claimed and over | claimed | one worker, for as long as it renews its lease |
| finish | claimed | done | that worker, in the transaction that counts it; the last one is elected |
| give back | claimed | waiting | that worker, when reading failed |

Shards draw nothing: read twice, they say the same, so one whose worker died is read again, up to
`MOST_ATTEMPTS` times. The elected worker alone draws, once; if it dies, its release fails, as any other.
Whether a release was spread says how much data there is: nothing of it goes into events, states that
others see, or messages, which carry random names.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Final, Self
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from heatmaps import leases, queue
from heatmaps.masses import Pieces, Share, selection
from heatmaps.models import FanOut, Release, ReleaseState, Shard, ShardPiece, ShardState
from heatmaps.models.packed import SLOTS

MOST_ATTEMPTS: Final = 3  # at one shard: whatever kills a worker each time is no accident
RESENT_AT_ONCE: Final = 100  # shards that one sweep sends to the workers again


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to read one shard."""

    shard_id: UUID
    release_id: UUID
    share: Share
    attempt: int

    @classmethod
    def of(cls, shard: Shard) -> Self:
        share = Share(shard.number, shard.of)
        return cls(shard_id=shard.pk, release_id=shard.fan_out_id, share=share, attempt=shard.attempts)

    @property
    def is_last(self) -> bool:
        return self.attempt >= MOST_ATTEMPTS

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Renew the shard's lease and its release's, as `leases.kept`."""
        with leases.kept(self.release_id, also=self._renew):
            yield

    def finish(self, part: Pieces) -> bool:
        """Store the partial sums. True for the worker of the last shard, which is elected to draw.

        What the last one read is not stored: nobody else will ever read it. Therefore one stores at a time,
        and who comes meanwhile waits to learn whether it is the last.
        """
        fan_out = FanOut.objects.filter(pk=self.release_id)
        with transaction.atomic():
            if not self._held().update(state=ShardState.DONE, lease_until=None):
                return False  # taken over by another, or the release ended
            left = fan_out.select_for_update().values_list("left", flat=True).get()
            if left == 1:
                return fan_out.filter(elected=False).update(left=0, elected=True) == 1
            fan_out.update(left=left - 1)
            _store(self.shard_id, part)
            return False

    def give_back(self) -> None:
        """The next sweep sends it to a worker again."""
        self._held().update(state=ShardState.WAITING, lease_until=None)

    def _renew(self) -> bool:
        return self._held().update(lease_until=_lease_end()) == 1

    def _held(self) -> "QuerySet[Shard]":
        return Shard.objects.filter(pk=self.shard_id, state=ShardState.CLAIMED, attempts=self.attempt)


def wanted(release: Release) -> int:
    """How many shards a release is read in. This is data: it follows from how many check-ins there are."""
    if connection.vendor != "postgresql":
        return 1  # one process, and the database does the work
    read = selection.uploads(release.dataset, release.version)
    checkins = read.aggregate(total=Sum(F("rows_accepted") - F("rows_expired")))["total"] or 0
    count = max(1, -(-checkins // settings.ROWS_PER_SHARD))
    return count if count <= SLOTS else -(-count // SLOTS) * SLOTS


def spread(release_id: UUID, count: int) -> None:
    """Hand the shares of a spent release to the workers."""
    with transaction.atomic():
        fan_out = FanOut.objects.create(release_id=release_id, left=count, created_at=timezone.now())
        shards = Shard.objects.bulk_create(
            Shard(fan_out=fan_out, number=number, of=count) for number in range(count)
        )
        _send(shard.pk for shard in shards)


def claim(shard_id: UUID) -> Claim | None:
    """None when it is done, gone, held by another, or was tried too often."""
    free = Q(state=ShardState.WAITING) | Q(state=ShardState.CLAIMED, lease_until__lt=timezone.now())
    shard = Shard.objects.filter(
        free,
        pk=shard_id,
        attempts__lt=MOST_ATTEMPTS,
        fan_out__release__state=ReleaseState.SPENT,
    )
    found = shard.first()
    if found is None:
        return None
    same = Shard.objects.filter(free, pk=shard_id, attempts=found.attempts)
    found.attempts += 1
    claimed = same.update(state=ShardState.CLAIMED, attempts=found.attempts, lease_until=_lease_end())
    return Claim.of(found) if claimed else None


def parts_besides(claim: Claim) -> Generator[Pieces]:
    """The partial sums of all other shards, for the worker that was elected.

    Pieces come as they are taken: each part is to be read before the next one is asked for.
    Errors: RuntimeError where any is missing.
    """
    select = f"""
        SELECT shard_id, content FROM {_PIECES} AS piece JOIN {_SHARDS} AS shard ON shard.id = shard_id
        WHERE fan_out_id = %s AND shard.id <> %s ORDER BY shard_id, piece.number
    """  # noqa: S608  # constants
    connection.ensure_connection()
    found = 1
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        pieces = cursor.stream(select, (claim.release_id, claim.shard_id), binary=True)
        for _, of_shard in groupby(pieces, key=itemgetter(0)):
            yield (content for _, content in of_shard)
            found += 1
    if found != claim.share.of:
        raise RuntimeError("partial sums of a share are missing")


def clear(release_id: UUID) -> None:
    """Delete a release's rows, once it has ended."""
    ended = FanOut.objects.filter(pk=release_id).exclude(release__state=ReleaseState.SPENT)
    ended.delete()


def is_going_on(release: Release) -> bool:
    """Whether a release without a living worker waits for shards that somebody can still read.

    Not once a worker was elected, a shard was tried too often, or it all takes too long.
    """
    since = timezone.now() - timedelta(seconds=leases.LONGEST_DRAW_SECONDS)
    fan_out = FanOut.objects.filter(pk=release.pk, elected=False, created_at__gte=since)
    return (
        fan_out.exists()
        and not _unfinished().filter(fan_out=release.pk, attempts__gte=MOST_ATTEMPTS).exists()
    )


def sweep() -> None:
    """Send again what no worker reads, and delete what releases that ended have left."""
    for release in Release.objects.filter(fan_out__isnull=False).exclude(state=ReleaseState.SPENT):
        clear(release.pk)
    open_shards = _unfinished().filter(attempts__lt=MOST_ATTEMPTS, fan_out__release__state=ReleaseState.SPENT)
    _send(open_shards.values_list("pk", flat=True)[:RESENT_AT_ONCE])


def _unfinished() -> "QuerySet[Shard]":
    """Shards that nobody reads now, and that are not done."""
    over = Q(state=ShardState.CLAIMED, lease_until__lt=timezone.now())
    return Shard.objects.filter(Q(state=ShardState.WAITING) | over)


_SHARDS: Final = Shard._meta.db_table
_PIECES: Final = ShardPiece._meta.db_table


def _store(shard_id: UUID, part: Pieces) -> None:
    """In the caller's transaction; as bytes, where Django would send twice as many hexadecimal digits."""
    insert = f"INSERT INTO {_PIECES} (shard_id, number, content) VALUES (%s, %s, %b)"  # noqa: S608  # constants
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        for number, piece in enumerate(part):
            cursor.execute(insert, (shard_id, number, piece))


def _send(shard_ids: Iterable[UUID]) -> None:
    for shard_id in shard_ids:
        queue.send(queue.SHARD, str(shard_id))


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
