"""Forgets rounds: packets, invitations, secrets, tables and keys; their facts, which are public, stay."""

import logging
from threading import Event
from uuid import UUID

from django.db import connection, transaction

from heatmaps.shuffler import settings
from heatmaps.shuffler.life import round_files
from heatmaps.shuffler.models import FINAL, Collection, Invitation, Round, State

_log = logging.getLogger(__name__)
_in_log = Event()  # SQLite's log may still hold what was deleted
_in_log.set()


def end(ended: Round, state: State) -> None:
    """Moves a round to a final state and forgets it.

    State and rows go in one step. What a process killed after it leaves in files, `finish` finds.
    """
    with transaction.atomic():
        if not Round.objects.filter(pk=ended.pk).exclude(state__in=FINAL).update(state=state):
            return
        Invitation.objects.filter(round=ended).all().delete()
    _log.info("round %s: %s", ended.pk, state.label)
    _destroy(ended.pk)


def finish(collection: Collection) -> None:
    """Destroys the files of this collection's rounds that ended, and what SQLite still has of them."""
    for ended in Round.objects.filter(collection=collection, state__in=FINAL).only("pk"):
        if round_files.folder(ended.pk).exists():
            _destroy(ended.pk)
    if _in_log.is_set():
        _in_log.clear()
        with connection.cursor() as cursor:
            # Deleted rows are zeroed in the database; older copies of their pages leave the log here.
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (busy, _, _) = cursor.fetchone()
        if busy:
            _in_log.set()


def destroy_orphans() -> None:
    """Destroys files of rounds that no row came to be of; before anything else makes files."""
    for path in settings.ROUNDS_DIR.iterdir():
        if not Round.objects.filter(pk=path.name).exists():
            round_files.destroy_all(UUID(path.name))


def _destroy(round_id: UUID) -> None:
    _in_log.set()
    round_files.destroy_all(round_id)
