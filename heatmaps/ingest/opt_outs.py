"""Manages opt-outs: a keyed entry each, effective with the next data version.

Nothing tells whether they were in the data: entering somebody who was not looks the same. Published
releases, and versions made before, stay as they are.

Check-ins of somebody who opted out stay stored, since earlier versions read them, and are left out when
masses are read. So an entry that is taken back brings all of them back with the next version: those from
before it, and those of files that came meanwhile.

No row is ever changed or deleted: taking back is a row of its own (`heatmaps.models.Suppression`). An entry
that was taken back before any version had it is in no list, as if it had never been; its rows stay.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import Http404

from heatmaps.ingest.errors import UploadError, refuse_elsewhere
from heatmaps.ingest.formats import child_process
from heatmaps.ingest.formats.lines import ReaderLimits
from heatmaps.ingest.formats.row_values import is_text
from heatmaps.ledger import transitions
from heatmaps.models import Dataset, Suppression, UserForm
from heatmaps.people.permissions import Act, Person, require
from heatmaps.pseudonyms import keys, user_names
from heatmaps.record import opt_outs as record

MOST_AT_ONCE: Final = 100_000
BLOCK: Final = 500  # of hashes in one statement

_LIMITS: Final = ReaderLimits(line_length=1000, total_bytes=2**24)


def opt_out(person: Person, dataset: Dataset, users: Iterable[str]) -> int:
    """Leaves these users (as the files name them) out from the next data version on.

    Who is left out already stays so; who was to come back does not. Returns how many entries are new.
    Errors: as `permissions.require`; `keys.KeyFileError`; `UploadError` for no users, or more than
    `MOST_AT_ONCE`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    _check_has_entries(dataset)
    hashes = _hashes(dataset, users)
    with transitions.locked(dataset.pk):
        record.note_out(dataset, hashes)
        return _leave_out(dataset, hashes, steward)


def enter(person: Person, dataset: Dataset, user: str) -> tuple[Suppression, bool]:
    """Enters the opt-out of one user as `opt_out` does; returns the entry of the name as it is written, and
    whether any is new."""
    is_new = opt_out(person, dataset, [user]) > 0
    [(first, rest)] = keys.PersonHasher.of(dataset).hashes(_checked([user])).tolist()
    rows = Suppression.entries_of(dataset).filter(person=first, person_rest=rest)
    return rows.get(pk__in=Suppression.open_of(dataset).values("pk")), is_new


def take_back(person: Person, dataset: Dataset, users: Iterable[str]) -> int:
    """Counts these users again from the next data version on. Returns how many had opted out.

    Errors: as `opt_out`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    _check_has_entries(dataset)
    hashes = _hashes(dataset, users)
    with transitions.locked(dataset.pk):
        count = _withdraw(dataset, _of(Suppression.open_of(dataset), hashes), steward)
        transaction.on_commit(partial(record.note_back, dataset, hashes))
    return count


def take_back_entry(person: Person, dataset: Dataset, entry: UUID) -> None:
    """Takes one entry back. Errors: as `permissions.require`; Http404 where there is no such entry."""
    steward = require(person, dataset, Act.UPLOAD)
    with transitions.locked(dataset.pk):
        rows = list(Suppression.open_of(dataset).filter(entry=entry))
        persons = [(row.person, row.person_rest) for row in rows]
        if not _withdraw(dataset, rows, steward):
            raise Http404("no such opt-out, or it was taken back")
        transaction.on_commit(partial(record.note_back, dataset, persons))


def replay(dataset: Dataset, *, entered_by: User) -> bool:
    """Enters again who opted out by the record and not in the database, which was restored.

    `entered_by`: whose name the entries bear. The caller holds the ledger's lock. Returns whether the record
    has all of its lines.
    """
    if dataset.origin.refused_opt_outs:
        return True
    _leave_out(dataset, sorted(record.recorded(dataset)), entered_by)
    return record.is_whole()


def entries(person: Person, dataset: Dataset) -> "QuerySet[Suppression]":
    """Selects every entry, the latest first: data. Errors: as `permissions.require`."""
    require(person, dataset, Act.SEE_DATA)
    return Suppression.entries_of(dataset).order_by("-created_at", "-pk")


def users_of(stream: BinaryIO) -> list[str]:
    """Reads the users of a text file, one a line. Errors: `ReaderError`, `UploadError`."""
    return _checked(child_process.names(stream, _LIMITS))


def pending(dataset: Dataset) -> int:
    """Counts entries, and entries taken back, that wait for the next version. Data: for stewards only."""
    return Suppression.entries_of(dataset).filter(state__in=["waiting", "ending"]).count()


def _check_has_entries(dataset: Dataset) -> None:
    """Refuses datasets that read their opt-outs from a table. Errors: `UploadError`."""
    refuse_elsewhere(dataset, dataset.origin.refused_opt_outs)


def _leave_out(dataset: Dataset, persons: list[record.Person], steward: User) -> int:
    """Leaves persons out and counts the new entries.

    The caller holds the ledger's lock, so that no version is made meanwhile.
    """
    since = _next_version(dataset)
    ending = dataset.suppressions.filter(since=since, withdrawals=None)
    entries = ending.filter(withdraws__since__lt=since, withdraws__withdraws=None)  # go on
    _withdraw(dataset, _of(entries, persons), steward)
    are_out = {(row.person, row.person_rest) for row in _of(Suppression.open_of(dataset), persons)}
    rows = [
        Suppression(dataset=dataset, person=first, person_rest=rest, since=since, created_by=steward)
        for first, rest in persons
        if (first, rest) not in are_out
    ]
    Suppression.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def _withdraw(dataset: Dataset, withdrawn: Iterable[Suppression], steward: User) -> int:
    """Withdraws entries and counts the new rows. The caller holds the ledger's lock."""
    since = _next_version(dataset)
    rows = [
        Suppression(
            dataset=dataset,
            person=row.person,
            person_rest=row.person_rest,
            since=since,
            withdraws=row,
            created_by=steward,
        )
        for row in withdrawn
    ]
    Suppression.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def _next_version(dataset: Dataset) -> int:
    """Returns the number of the version that a row entered now takes effect with."""
    latest: int | None = dataset.versions.aggregate(latest=Max("number"))["latest"]
    return (latest or 0) + 1


def _hashes(dataset: Dataset, users: Iterable[str]) -> list[tuple[int, int]]:
    names = _checked(users)
    if dataset.user_form == UserForm.DECIMAL:
        # Who writes 12.0 may have seen it as a number in NDJSON, where it is 12, or as text in CSV.
        names = [name for user in names for name in user_names.spellings(user)]
    return sorted(set(keys.PersonHasher.of(dataset).hashes(names).tolist()))


def _of(rows: "QuerySet[Suppression]", persons: list[record.Person]) -> Iterator[Suppression]:
    """Yields those of the rows that are about these persons."""
    for at in range(0, len(persons), BLOCK):
        block = set(persons[at : at + BLOCK])
        for row in rows.filter(person__in=[first for first, _ in block]):
            if (row.person, row.person_rest) in block:
                yield row


def _checked(users: Iterable[str]) -> list[str]:
    """Returns names as the reader takes them: without blanks around."""
    names = dict[str, None]()
    for user in users:
        if name := user.strip():
            names[name] = None
        if len(names) > MOST_AT_ONCE:
            raise UploadError("too_many_users", f"at most {MOST_AT_ONCE} users at once; split the list")
    if not names:
        raise UploadError("no_users", "enter at least one user, as the files name them, one a line")
    if not is_text(list(names)):
        raise UploadError("not_text", "the list is not text in UTF-8")
    return list(names)
