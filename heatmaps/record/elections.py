"""Elects whoever draws, in the database and in the record outside it.

One process at a time holds the record from the look at the database to the commit, so that an intent without
its row was left by a process that died, or by a database that went back: its release is never drawn again.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from heatmaps.models import (
    Charge,
    Election,
    HoldCause,
    Installation,
    Release,
    ReleaseState,
)
from heatmaps.record import hold, place
from heatmaps.record.hold import OnHold
from heatmaps.record.journal import BOOT, DONE, INTENT, PLACE, RESUMED, VOID, Journal, Line, opened

FILE: Final = "elections"
MARK_EVERY: Final = timedelta(hours=1)
_QUEUED: Final = (ReleaseState.RESERVED, ReleaseState.SPENT)


class Candidate:
    """Whoever asks to draw a release, holding every journal."""

    def __init__(self, journals: list[Journal], release_id: UUID | None) -> None:
        self._journals, self._release_id = journals, release_id
        self._id: UUID | None = None

    @property
    def may_have_drawn(self) -> bool:
        """Whether an earlier election of the release left an intent and no row."""
        lone = {
            election
            for journal in self._journals
            for election, release in journal.entries.intents.items()
            if release == self._release_id
        }
        return Election.objects.filter(pk__in=lone).count() < len(lone)

    def elect(self, attempt: int = 1) -> None:
        """Writes the election, and the intent as the last thing before the caller's commit."""
        election = Election.objects.create(pk=uuid4(), release_id=self._release_id, attempt=attempt)
        charges = Charge.objects.filter(release=self._release_id).values_list("account_id", "amount")
        line = {
            "kind": INTENT,
            "id": str(election.pk),
            "release": None if self._release_id is None else str(self._release_id),
            "at": election.at.isoformat(),
            "charges": {str(account): amount for account, amount in charges},
        }
        self._id = election.pk
        self._append(line)

    def settle(self, kind: str) -> None:
        """Notes what became of the election: `DONE` or `VOID`."""
        if self._id is not None:
            self._append({"kind": kind, "id": str(self._id)})

    def _append(self, line: Line) -> None:
        for journal in self._journals:
            journal.append(line)


@contextmanager
def electing(release_id: UUID | None) -> Iterator[Candidate]:
    """Compares the database with the record, then lets the block elect and commit.

    Errors: OnHold, and then the installation is on hold; OSError where the record cannot be written.
    """
    with _journals() as journals:
        _compare(journals)
        candidate = Candidate(journals, release_id)
        try:
            yield candidate
        except BaseException:
            candidate.settle(VOID)  # whatever the database holds, nobody draws by this election
            raise
        candidate.settle(DONE)


def look() -> None:
    """Compares the database with the record, and marks it now and then. Errors: as `electing`."""
    with electing(None) as candidate:
        is_marked = Election.objects.filter(release=None, at__gt=timezone.now() - MARK_EVERY).exists()
        if not is_marked:
            mark(candidate)


def mark(candidate: Candidate) -> None:
    """Writes an election of nothing: a database from before it is older."""
    with transaction.atomic(durable=True):
        candidate.elect(attempt=0)


def go_on(*, forget: bool) -> None:
    """Takes the database as it is for the newest, at the operator's word. For `manage.py resume`.

    forget: what was recorded before is of a past that this database does not have.
    """
    with _journals() as journals:
        for journal in journals:
            _begin(journal)
            if forget:
                journal.append({"kind": RESUMED})
        candidate = Candidate(journals, None)
        mark(candidate)
        candidate.settle(DONE)


def recorded() -> list[dict[str, object]]:
    """The intents of every journal at hand, each once, in their order: for `manage.py resume`."""
    with _journals() as journals:
        lines = [line for journal in journals for line in journal.lines() if line["kind"] == INTENT]
    return list({str(line["id"]): dict(line) for line in lines}.values())


def folder() -> Path:
    """Where this installation's record is."""
    return Path(settings.RECORD_DIR) / str(hold.installation().identity)


@contextmanager
def _journals() -> Iterator[list[Journal]]:
    places = [folder()]
    if settings.WITNESS_DIR is not None:
        places.append(Path(settings.WITNESS_DIR) / str(hold.installation().identity))
    with ExitStack() as stack:
        yield [stack.enter_context(opened(path / FILE)) for path in places]


def _compare(journals: list[Journal]) -> None:
    """Errors: OnHold."""
    if hold.cause() is not None:
        raise OnHold
    for number, journal in enumerate(journals):
        reason = _problem(journal, is_bound=number == 0)
        if reason is not None:
            hold.put(reason)
            raise OnHold
    _note_boot(journals)


def _problem(journal: Journal, *, is_bound: bool) -> HoldCause | None:
    entries = journal.entries
    if entries.place is None:
        # A witness may come later than its installation.
        if is_bound and Election.objects.filter(release=None).exists():
            return HoldCause.NO_RECORD
        _begin(journal)
    elif is_bound and entries.place != _place_line(journal):
        return HoldCause.OTHER_PLACE
    if entries.last is not None and not Election.objects.filter(pk=entries.last).exists():
        return HoldCause.OLDER
    releases = {release for release in entries.intents.values() if release is not None}
    if Release.objects.filter(pk__in=releases).count() < len(releases):
        return HoldCause.OLDER  # the release was there before its election
    return None


def _begin(journal: Journal) -> None:
    journal.append(_place_line(journal))
    journal.append({"kind": BOOT, "boot": place.boot()})


def _place_line(journal: Journal) -> dict[str, object]:
    return {"kind": PLACE, **place.of_file(journal.path)}


def _note_boot(journals: list[Journal]) -> None:
    """A disk that went back with everything on it shows at a boot at the earliest; a witness sees it."""
    record, *witnesses = journals
    if record.entries.boot == place.boot():
        return
    waiting = Release.objects.filter(state__in=_QUEUED, elections=None)
    if not witnesses and waiting.exists():
        Installation.objects.update(confirm_before=timezone.now())
    record.append({"kind": BOOT, "boot": place.boot()})
