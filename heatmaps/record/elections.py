"""Elects whoever draws, in the database and in the record outside it.

One process at a time holds the record from the look at the database to the commit, so that an intent without
its row was left by a process that died, or by a database that went back: its release is never drawn again.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection, transaction
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
from heatmaps.record.journal import BOOT, DONE, INTENT, PLACE, RESUMED, VOID, Journal, Line, opened, unkept

FILE: Final = "elections"
OPT_OUTS: Final = "opt-outs"  # begins with the elections, so that one that is missing is known to be
MARK_EVERY: Final = timedelta(hours=1)
_QUEUED: Final = (ReleaseState.RESERVED, ReleaseState.SPENT)


class Candidate:
    """Stands for whoever asks to draw a release, holding every journal."""

    def __init__(self, journals: list[Journal], release_id: UUID | None) -> None:
        self._journals, self._release_id = journals, release_id
        self._id: UUID | None = None

    @property
    def may_have_drawn(self) -> bool:
        """Tells whether an earlier election of the release left an intent and no row."""
        lone = {
            election
            for journal in self._journals
            for election, release in journal.entries.intents.items()
            if release == self._release_id
        }
        return Election.objects.filter(pk__in=lone).count() < len(lone)

    def elect(self, attempt: int = 1) -> None:
        """Writes the election, and the intent as the last thing before the caller's commit."""
        election = Election.objects.create(
            pk=uuid4(), release_id=self._release_id, attempt=attempt, recorder=_id(self._journals[0])
        )
        charges = Charge.objects.filter(release=self._release_id).values_list("account_id", "amount")
        line = {
            "kind": INTENT,
            "id": str(election.pk),
            "release": None if self._release_id is None else str(self._release_id),
            "at": election.at.isoformat(),
            "charges": {str(account): amount for account, amount in charges},
        }
        # A database that goes back may have been waited for since it was looked at.
        if any(map(_lacks, self._journals)):
            raise OnHold
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

    Errors: OnHold, and then the installation is on hold; RecordError where the record cannot be written.
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


def ensure_begun() -> None:
    """Begins the record before anything is queued that a copy of this database could draw, too.

    Not inside a transaction, which may be rolled back. Errors: as `electing`.
    """
    if not connection.in_atomic_block and not Election.objects.filter(recorder__isnull=False).exists():
        look()


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


def tells_everything() -> bool:
    """Tells whether every election since a backup is in a record at hand, wherever the database is now.

    A witness has those of all machines. Without one another machine may have drawn, too.
    """
    with _journals() as journals:
        record, *witnesses = journals
        at_hand = [witness for witness in witnesses if witness.entries.place]
        if _is_here(record, "machine", "file", "stamp"):
            at_hand.append(record)
        lines = [line for journal in at_hand for line in journal.lines() if line["kind"] == INTENT]
    # What began after the backup was made does not have what was drawn in between.
    newest = {row.recorder: row.pk for row in Election.objects.filter(recorder__isnull=False).order_by("at")}
    return bool(newest) and {UUID(line["id"]) for line in lines}.issuperset(newest.values())


def is_behind() -> bool:
    """Tells whether the record, or the witness, proves that the database is older."""
    with _journals() as journals:
        return any(map(_lacks, journals))


def lost_charges() -> dict[int, int | None]:
    """Returns units by account id of the releases that were recorded but the database lacks; None: no bound.

    Whatever it has, queued or ended, kept its own charge; what it gave back, as it did not know of the draw,
    is lost.
    """
    charges: dict[int, int | None] = {}
    for line in _lost():
        for account, amount in line["charges"].items():
            units = charges.get(int(account), 0)
            charges[int(account)] = None if units is None or amount is None else units + amount
    return charges


def _lost() -> list[dict[str, Any]]:
    """Returns intents since the last resumption that the database knows, each once.

    They may have been committed.
    """
    lost: dict[str, dict[str, Any]] = {}
    with _journals() as journals:
        for journal in journals:
            lines = journal.lines()
            void = {line["id"] for line in lines if line["kind"] == VOID}
            intents = (line for line in lines[_resumed_at(lines) :] if line["kind"] == INTENT)
            lost |= {str(line["id"]): dict(line) for line in intents if line["id"] not in void}
    present = Release.objects.filter(pk__in=[line["release"] for line in lost.values() if line["release"]])
    charged_ids = set(map(str, present.exclude(state=ReleaseState.CANCELLED).values_list("pk", flat=True)))
    return [line for line in lost.values() if line["release"] and line["release"] not in charged_ids]


def _resumed_at(lines: list[Line]) -> int:
    """Returns the end of the last resumption whose mark the database has: another backup knows none."""
    marks: dict[UUID, int] = {}
    is_next = False
    for at, line in enumerate(lines):
        if line["kind"] == INTENT and is_next:
            marks[UUID(str(line["id"]))] = at + 1
        is_next = line["kind"] == RESUMED or (is_next and line["kind"] != INTENT)
    present = Election.objects.filter(pk__in=marks).values_list("pk", flat=True)
    return max((marks[mark] for mark in present), default=0)


def folders() -> list[Path]:
    """Returns the folders of this installation's record and, if there is one, of its witness."""
    roots = [settings.RECORD_DIR, settings.WITNESS_DIR]
    return [Path(root) / str(hold.installation().identity) for root in roots if root is not None]


@contextmanager
def _journals() -> Iterator[list[Journal]]:
    with ExitStack() as stack:
        yield [stack.enter_context(opened(folder / FILE)) for folder in folders()]


def _compare(journals: list[Journal]) -> None:
    """Compares database and record. Errors: OnHold."""
    if hold.cause() is not None:
        raise OnHold
    reason = _problem(journals)
    if reason is not None:
        hold.put(reason)
        raise OnHold
    for journal in journals:
        if journal.entries.place is None:
            _begin(journal)  # a witness may come later than its installation
    _note_boot(journals)


def _problem(journals: list[Journal]) -> HoldCause | None:
    """Returns the reason why nothing may be drawn; what is proved comes before what is only missing."""
    record = journals[0]
    if any(map(_lacks, journals)):
        return HoldCause.OLDER
    if record.entries.place is None:
        has_begun = Election.objects.filter(recorder__isnull=False).exists()
        return HoldCause.NO_RECORD if has_begun else None
    is_here = _is_here(record, "machine", "file", "stamp", "database")
    return None if is_here else HoldCause.OTHER_PLACE


def _lacks(journal: Journal) -> bool:
    """Tells whether the database lacks the last election of a journal, or a release that was elected."""
    entries = journal.entries
    if entries.last is not None and not Election.objects.filter(pk=entries.last).exists():
        return True
    # The release was there before its election.
    releases = {release for release in entries.intents.values() if release is not None}
    return Release.objects.filter(pk__in=releases).count() < len(releases)


def _begin(journal: Journal) -> None:
    """Begins a record. Errors: RecordError."""
    try:
        place.stamp(journal.path)
    except OSError as error:
        raise unkept(journal.path, error) from error
    line = {"kind": PLACE, "id": str(_id(journal) or uuid4()), **place.of_file(journal.path)}
    with opened(journal.path.with_name(OPT_OUTS)) as opt_outs:
        if opt_outs.entries.place is None:
            opt_outs.append({"kind": PLACE, "id": line["id"]})
    journal.append(line, {"kind": BOOT, "boot": place.boot()})


def _id(journal: Journal) -> UUID | None:
    began = journal.entries.place
    return UUID(began["id"]) if began else None


def _is_here(journal: Journal, *names: str) -> bool:
    """Tells whether a journal began where it is now: a copy of it is another file, or on another machine.

    Numbers of devices are compared within one start of the machine: some file systems get others then.
    """
    began, here = journal.entries.place, place.of_file(journal.path)
    if not began or any(name not in began for name in names):
        return False
    if journal.entries.boot == place.boot():
        return all(began[name] == here[name] for name in names)
    return all(
        place.without_device(name, began[name]) == place.without_device(name, here[name]) for name in names
    )


def _note_boot(journals: list[Journal]) -> None:
    """Notes a boot.

    A disk that went back with everything on it shows at a boot at the earliest; a witness sees it.
    """
    record, *witnesses = journals
    if record.entries.boot == place.boot():
        return
    releases = Release.objects.filter(state__in=_QUEUED, elections=None)
    if not witnesses and releases.exists():
        Installation.objects.update(confirm_before=timezone.now())
    line = {"kind": PLACE, "id": str(_id(record)), **place.of_file(record.path)}
    record.append(line, {"kind": BOOT, "boot": place.boot()})
