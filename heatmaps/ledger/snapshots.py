"""Reads much of a ledger in one snapshot without blocking writers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection, transaction

_ONE_MOMENT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@contextmanager
def snapshot() -> Iterator[None]:
    """Opens a transaction that sees the database as it was when it first read, and locks nothing.

    Inside another transaction it sees what that one sees.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(_ONE_MOMENT)
            yield
    else:
        with _begun_without_a_lock(), transaction.atomic():
            yield


@contextmanager
def _begun_without_a_lock() -> Iterator[None]:
    """Begins without a lock.

    Our transactions take SQLite's only lock when they begin; this one never writes.
    """
    connection.ensure_connection()  # its mode is set with it
    sqlite: Any = connection
    mode, sqlite.transaction_mode = sqlite.transaction_mode, "DEFERRED"
    try:
        yield
    finally:
        sqlite.transaction_mode = mode
