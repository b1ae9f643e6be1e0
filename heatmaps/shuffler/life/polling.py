"""Asks analysers what is planned and does what is due, with a thread for each collection.

So an analyser that answers slowly, or never, holds up nobody else's rounds.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from threading import Event, Thread
from typing import Any, Final

from django.db import DatabaseError, connection

from heatmaps.shuffler import settings
from heatmaps.shuffler.analyser import Analyser, AnalyserAway, AnalyserRefuses
from heatmaps.shuffler.life import analysers, closing, forgetting, planning
from heatmaps.shuffler.life.packet_file import PacketFile
from heatmaps.shuffler.models import FINAL, Collection, Round, State

MOST_SECONDS: Final = 60.0  # between two attempts while the analyser is away
KEPT_SECONDS: Final = 30 * 24 * 3600  # after the closing moment, for an analyser that takes nothing
_DECIDED: Final = frozenset({"published", "no_result"})
_COMMITTED: Final = frozenset({"planned", "ready", "open"})

_log = logging.getLogger(__name__)


class Poller:
    """Does everything that `serve` does beside answering requests."""

    def __init__(self) -> None:
        self._stopping = Event()
        self._threads: dict[int, Thread] = {}

    def start(self) -> None:
        forgetting.destroy_orphans()
        self._begin(self._watch)

    def stop(self) -> None:
        self._stopping.set()

    def _begin(self, work: Callable[..., None], *arguments: object) -> Thread:
        thread = Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    def _watch(self) -> None:
        """Begins with collections that were joined while this process runs."""
        while not self._stopping.is_set():
            try:
                for collection in Collection.objects.all():
                    if collection.pk not in self._threads:
                        self._threads[collection.pk] = self._begin(self._follow, collection.pk)
            except DatabaseError:
                _log.exception("the database does not answer")
                connection.close()
            self._stopping.wait(settings.POLL_SECONDS)

    def _follow(self, collection_id: int) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                failures = failures + 1 if _turn(collection_id) else 0
                pause = _pause(collection_id, failures)
            except Exception:  # noqa: BLE001 - the next turn may find disk, database or peer in order again
                failures += 1
                pause = _backed_off(failures)
                _log.exception("a turn ended with an error")
                connection.close()
            self._stopping.wait(pause)


def _turn(collection_id: int) -> bool:
    """Looks after a collection; True where its analyser did not answer, or refused."""
    collection = Collection.objects.get(pk=collection_id)
    try:
        refusals = look_after(collection)
    except AnalyserAway:
        _log.warning("collection %s: the analyser does not answer", collection.slug)
        return True
    for refusal in refusals:
        _log.error("collection %s: the analyser refuses, status %d", collection.slug, refusal.status)
    return bool(refusals)


def look_after(collection: Collection) -> list[AnalyserRefuses]:
    """Makes one turn: first what is due here, without an analyser. What one refuses holds up no other round.

    Errors: AnalyserAway.
    """
    closing.close_due(collection)
    forgetting.finish(collection)
    _hide_moments(collection)
    analyser = analysers.of_collection(collection)
    refusals = []
    try:
        rounds = analyser.rounds()
    except AnalyserRefuses as refusal:
        refusals.append(refusal)
        rounds = []  # what closed is offered, and given up in the end
    for listed in rounds:
        try:
            _follow_round(collection, analyser, listed)
        except AnalyserRefuses as refusal:
            refusals.append(refusal)
    # Last: a round that is over at the analyser got its batch, and this state may be older than that.
    refusals += _hand_over_closed(collection, analyser)
    forgetting.finish(collection)
    return refusals


def _hide_moments(collection: Collection) -> None:
    """Overwrites moments: a file's last change would else be that of the last packet."""
    for taking in Round.objects.filter(collection=collection, state=State.READY):
        with suppress(FileNotFoundError):  # the other rounds go on
            PacketFile.of_round(taking).hide_times()


def _hand_over_closed(collection: Collection, analyser: Analyser) -> list[AnalyserRefuses]:
    """Hands over closed rounds; one that is refused holds up no others: the list may say that it is over."""
    refusals = []
    for closed in Round.objects.filter(collection=collection, state=State.CLOSING).order_by("number"):
        try:
            closing.hand_over(closed, analyser)
        except AnalyserRefuses as refusal:
            refusals.append(refusal)
            if time.time() > closed.closes_at + KEPT_SECONDS:
                forgetting.end(closed, State.GIVEN_UP)
    return refusals


def _follow_round(collection: Collection, analyser: Analyser, listed: dict[str, Any]) -> None:
    round_id, state = planning.read_id(listed), listed.get("state")
    stored_round = Round.objects.filter(collection=collection, pk=round_id).first() if round_id else None
    if stored_round is None:
        if state == "planned":
            _plan(collection, analyser, listed)
    elif stored_round.state in FINAL:
        pass
    elif state == "cancelled":
        forgetting.end(stored_round, State.CANCELLED)
    elif state in _DECIDED:
        forgetting.end(stored_round, State.GIVEN_UP)
    elif stored_round.state == State.PREPARED and state in _COMMITTED:
        planning.commit(stored_round, analyser)
    elif stored_round.facts_sha256 and listed.get("facts_sha256") not in (
        stored_round.facts_sha256,
        "",
        None,
    ):
        _say_once(f"round {stored_round.pk}: the analyser names other facts than it gave")


def _plan(collection: Collection, analyser: Analyser, listed: dict[str, Any]) -> None:
    plan = planning.RoundPlan.read(listed)
    if plan is None:
        _say_once(f"collection {collection.slug}: the analyser lists a round that cannot be read")
        return
    try:
        prepared = planning.prepare(collection, plan)
    except planning.NotYet as why:
        _say_once(f"round {plan.id} of {collection.slug} waits: {why.reason}")
    else:
        planning.commit(prepared, analyser)


@lru_cache(maxsize=1000)
def _say_once(line: str) -> None:
    """Logs a line once, not at every turn again."""
    _log.warning("%s", line)


def _pause(collection_id: int, failures: int) -> float:
    """Returns seconds until the next turn, which the next closing moment does not wait for."""
    now = time.time()
    due = Round.objects.filter(collection_id=collection_id, state=State.READY, closes_at__gt=now)
    if (first := due.order_by("closes_at").first()) is None:
        return _backed_off(failures)
    return min(_backed_off(failures), first.closes_at - now + 0.01)


def _backed_off(failures: int) -> float:
    """Returns seconds to wait, doubled with each failure."""
    most = max(MOST_SECONDS, settings.POLL_SECONDS)
    return min(settings.POLL_SECONDS * 2.0 ** min(failures, 10), most)
