"""Makes the data versions of datasets that read a lake: a worker looks at the tables first.

Looking pins the files, counts rows that cannot be read, and of a dataset with declared persons enrols every
user. How long that takes depends on the data, so the version appears at a public moment: one slot of the
dataset after it was asked for or due, or a slot later for as long as nobody is done. Where the tables cannot
be read there is none, and stewards are told why.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import numpy as np
import structlog
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from heatmaps import sources
from heatmaps.broker import leases, queue
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.versions import advance
from heatmaps.ledger import transitions
from heatmaps.ledger.transitions import slots
from heatmaps.models import Dataset, Enrolment, SourceSurvey, SurveyState
from heatmaps.people.permissions import Act, Person, require
from heatmaps.pseudonyms import keys
from heatmaps.pseudonyms.person_hashes import PERSON, Persons
from heatmaps.sources import question
from heatmaps.sources.engine import LakeSession, QuestionFailed, ServerAway, ServerRefused
from heatmaps.sources.manifest import FilesAway, FilesChanged, TableRefused
from heatmaps.sources.sources_file import SourcesFileError

MOST_ATTEMPTS: Final = 3
MOST_ENROLLED: Final = 10_000_000  # users of a dataset with declared persons: each is stored, hashed
LEASE: Final = timedelta(minutes=2)
PAUSE: Final = timedelta(seconds=20)
_BLOCK: Final = 10_000

_log = structlog.stdlib.get_logger(__name__)

_REFUSALS: Final = (TableRefused, ServerRefused, keys.KeyFileError, UploadError)


def advance_by(person: Person, dataset: Dataset) -> SourceSurvey:
    """Makes the next data version, asked for by a steward.

    Errors: as `permissions.require`; `UploadError`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    with transitions.locked(dataset.pk):
        advance.check_unscheduled(dataset)
        return ask(dataset, actor=steward)


def ask(dataset: Dataset, *, actor: User | None, due_at: datetime | None = None) -> SourceSurvey:
    """Has the tables looked at for the next version, by a steward or because it is due.

    The caller holds the ledger's lock. Errors: `UploadError` for a steward while one is under way.
    """
    open_one = SourceSurvey.objects.filter(dataset=dataset).exclude(state=SurveyState.FAILED).first()
    if open_one is not None and actor is None:
        return open_one  # its version is made a little later than this one would be
    if open_one is not None:
        raise UploadError(
            "survey_under_way", "the next data version is on its way already; wait until it appears"
        )
    SourceSurvey.objects.filter(dataset=dataset).delete()
    survey = SourceSurvey.objects.create(
        dataset=dataset,
        requested_by=actor,
        due_at=due_at,
        appears_at=(due_at or timezone.now()) + slots.length(dataset),
    )
    queue.send(queue.SURVEY, str(dataset.pk))
    return survey


def run(dataset_id: int) -> None:
    """Looks at the tables of a dataset, if nobody else does; its stewards are told what is wrong."""
    tag = _begin(dataset_id)
    if tag is None:
        return
    survey = SourceSurvey.objects.select_related("dataset").get(pk=dataset_id)
    try:
        _look(survey, tag)
    except SourcesFileError as error:
        _log.error("survey.sources_file", dataset=dataset_id, cause=type(error))
        _fail(dataset_id, tag, error.text_for(administrator=False))
    except _REFUSALS as refusal:
        _fail(dataset_id, tag, str(refusal))
    except FilesChanged:
        _fail(dataset_id, tag, "files of the table changed while it was looked at; try again")
    except FilesAway as error:
        _log.error("survey.not_answered", dataset=dataset_id, cause=type(error))
        _try_again(dataset_id, tag, "the store of the files did not answer; try again")
    except (QuestionFailed, ServerAway) as error:
        _log.error("survey.not_answered", dataset=dataset_id, cause=type(error))
        _try_again(
            dataset_id, tag, f"Spark did not answer ({error}); is it running, and does it see the files?"
        )


def appear(now: datetime) -> None:
    """Makes the versions whose moment has come; the others' moments move on. Safe to run beside anything."""
    due = SourceSurvey.objects.filter(appears_at__lte=now).exclude(state=SurveyState.FAILED)
    for dataset_id in due.order_by("appears_at").values_list("pk", flat=True):
        try:
            with transitions.locked(dataset_id):
                _appear(dataset_id, now)
        except (InterfaceError, OperationalError):
            raise  # the database is away: the clock waits for it
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others' versions appear
            _log.error("survey.not_told", dataset=dataset_id, cause=type(error))


def sweep() -> None:
    """Sends what no worker looks at to the workers again."""
    free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    surveys = SourceSurvey.objects.filter(free, state=SurveyState.WAITING)
    for dataset_id in surveys.values_list("pk", flat=True):
        queue.send(queue.SURVEY, str(dataset_id))


def _begin(dataset_id: int) -> UUID | None:
    """Begins a look; returns the caller's tag; None where another looks, or nobody is to."""
    now = timezone.now()
    free = _waiting(dataset_id).filter(Q(lease_until=None) | Q(lease_until__lt=now))
    tag = uuid4()
    with transaction.atomic():
        survey = free.select_for_update().first()
        if survey is None:
            return None
        if survey.attempts >= MOST_ATTEMPTS:
            _fail(dataset_id, survey.tag, "looking at the tables was interrupted again and again; try again")
            return None
        survey.tag, survey.attempts, survey.lease_until = tag, survey.attempts + 1, now + LEASE
        survey.save()
    return tag


def _look(survey: SourceSurvey, tag: UUID) -> None:
    dataset = survey.dataset
    source = sources.of(dataset)
    with _renewed_lease(dataset.pk, tag):
        tables = sources.pinned(source)
        with sources.opened(source, tables) as lake:
            [counts] = lake.ask(question.invalid(tables.columns)).to_pylist()
            rows = counts.pop("checkins")
            tables.check_rows(rows, counts.pop("opt_outs"))
            users = _users(dataset, lake, tables.columns)
        with transaction.atomic():
            _enrol(dataset, users)  # takes minutes, in which the clock may not wait for the survey's row
            if not _own_survey(dataset.pk, tag).select_for_update().exists():
                transaction.set_rollback(True)
                return
            state = tables.store(dataset, rows=rows, invalid=counts)
            _own_survey(dataset.pk, tag).update(state=SurveyState.DONE, found=state, lease_until=None)


def _users(dataset: Dataset, lake: LakeSession, columns: question.ColumnKinds) -> Persons | None:
    """Returns `(k,)` different hashes of all users, of a dataset with declared persons."""
    if dataset.persons is None:
        return None
    query = question.persons(columns, most=dataset.persons + 1)  # more than these are refused
    names, hasher = lake.ask(query)["person"], keys.PersonHasher.of(dataset)
    # In blocks: all of them as objects of Python would take gigabytes.
    blocks = [hasher.hashes(names.slice(at, _BLOCK).to_pylist()) for at in range(0, len(names), _BLOCK)]
    return np.unique(np.concatenate(blocks)) if blocks else np.empty(0, PERSON)


def _enrol(dataset: Dataset, users: Persons | None) -> None:
    """Enrols everybody who is or was in the table: who left it stays one of the declared persons.

    Errors: `UploadError` where they are more.
    """
    if users is None or dataset.persons is None:
        return
    for at in range(0, len(users), _BLOCK):
        Enrolment.objects.bulk_create(
            (
                Enrolment(dataset=dataset, person=first, person_rest=rest)
                for first, rest in users[at : at + _BLOCK].tolist()
            ),
            ignore_conflicts=True,
        )
    enrolments = Enrolment.objects.filter(dataset=dataset).count()
    if enrolments > dataset.persons:
        raise UploadError(
            "too_many_persons",
            f"the table has, with those who were in it before, at least {enrolments} different users, but "
            f"{dataset.persons} people were declared when the dataset was created. Remove the users who are "
            "not enrolled",
        )


def _appear(dataset_id: int, now: datetime) -> None:
    survey = SourceSurvey.objects.select_related("dataset", "found").filter(pk=dataset_id).first()
    if survey is None or survey.appears_at > now or survey.state == SurveyState.FAILED:
        return
    if survey.found is None:
        length = slots.length(survey.dataset)
        behind = (now - survey.appears_at) // length if length else 0
        SourceSurvey.objects.filter(pk=dataset_id).update(
            appears_at=survey.appears_at + (behind + 1) * length
        )
        return
    state = survey.found
    SourceSurvey.objects.filter(pk=dataset_id).delete()
    # The name behind the number alone: the clock's role reads no more of accounts.
    steward = User.objects.only("username").filter(pk__in=[survey.requested_by_id]).first()
    advance.next_version(survey.dataset, actor=steward, due_at=survey.due_at, tables=state)


def _fail(dataset_id: int, tag: UUID, reason: str) -> None:
    _own_survey(dataset_id, tag).update(state=SurveyState.FAILED, failure=reason, lease_until=None)


def _try_again(dataset_id: int, tag: UUID, reason: str) -> None:
    rows = _own_survey(dataset_id, tag)
    if rows.filter(attempts__gte=MOST_ATTEMPTS).exists():
        _fail(dataset_id, tag, reason)
    else:
        rows.update(lease_until=timezone.now() + PAUSE)


def _waiting(dataset_id: int) -> "QuerySet[SourceSurvey]":
    return SourceSurvey.objects.filter(pk=dataset_id, state=SurveyState.WAITING)


def _own_survey(dataset_id: int, tag: UUID) -> "QuerySet[SourceSurvey]":
    return _waiting(dataset_id).filter(tag=tag)


@contextmanager
def _renewed_lease(dataset_id: int, tag: UUID) -> Iterator[None]:
    """Renews the caller's lease until the block ends."""

    def renew() -> bool:
        return _own_survey(dataset_id, tag).update(lease_until=timezone.now() + LEASE) == 1

    with leases.renewed(renew, seconds=LEASE.total_seconds(), of=dataset_id):
        yield
