"""Takes locks in one order: the ledger's row, then accounts by primary key.

On PostgreSQL a move stands in the ledger's queue before, an advisory lock, which is handed to whoever waited
longest and wakes nobody else: of fifty that wait for a row alone, some wait five times as long as most. The
row's lock is what keeps moves apart; a writer that does not know the queue is only served out of turn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from heatmaps.ledger.errors import LedgerClosed
from heatmaps.models import Account, Ledger, Release

# Held until the end of the transaction. Two datasets whose numbers are so far apart share one queue, which
# costs time alone.
_NUMBERS: Final = 2**31 - 1
_QUEUE: Final = "SELECT pg_advisory_xact_lock('heatmaps_ledger'::regclass::int, %s::int)"


@contextmanager
def locked(dataset_id: int) -> Iterator[Ledger]:
    """Opens a transaction that no other move of this dataset runs beside; moves may be made inside it.

    Errors: LedgerClosed.
    """
    with transaction.atomic():
        yield _lock(dataset_id)


@contextmanager
def locked_release(release_id: UUID, *, durable: bool = False) -> Iterator[Ledger]:
    """Locks the release's dataset as `locked` does; `durable`: refuses to be part of another transaction."""
    with transaction.atomic(durable=durable):
        yield _lock(Release.objects.values_list("dataset_id", flat=True).get(pk=release_id))


def locked_accounts(dataset_id: int) -> list[Account]:
    """Locks the dataset's accounts, and returns them in the order of their locks."""
    return list(Account.objects.select_for_update().filter(dataset=dataset_id).order_by("pk"))


def _lock(dataset_id: int) -> Ledger:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_QUEUE, [dataset_id % _NUMBERS])
    ledger = Ledger.objects.select_for_update(of=("self",)).select_related("dataset").get(pk=dataset_id)
    if ledger.closed_sequence is not None:
        raise LedgerClosed
    return ledger
