"""Plans rounds of a collection, and tells where each of them stands."""

import hashlib
import json
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import uuid4

import structlog
from django.contrib.auth.models import User
from django.db.models import Max, QuerySet
from django.http import Http404
from django.utils import timezone

from heatmaps.children.turns import turn
from heatmaps.collections import plans, round_keys
from heatmaps.collections.errors import NoCollection, RoundNotOpen
from heatmaps.collections.plans import PlannedRound, RoundRequest
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.events import Facts, new_salt
from heatmaps.ledger.transitions import moves, slots
from heatmaps.models import Collection, Dataset, DataVersion, Release, ReleaseState, Round
from heatmaps.people.permissions import Act, Person, require
from heatmaps.record import elections
from heatmaps.regions import region_of, text_of
from mechanisms.check import ParameterError

SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(days=90)
FARTHEST: Final = timedelta(days=366)
# After the closing: who has handed over nothing by then never will, and the round ends without a result.
LAST_HAND_OVER: Final = timedelta(days=7)
HAND_OVER: Final = timedelta(seconds=5)  # beside a slot: what shuffler and analyser need after the closing

_log = structlog.stdlib.get_logger(__name__)


class RoundState(StrEnum):
    """Public, from public moments and acts alone."""

    PLANNED = "planned"
    READY = "ready"
    OPEN = "open"
    CLOSED = "closed"
    PUBLISHED = "published"
    NO_RESULT = "no_result"
    CANCELLED = "cancelled"


def collection_of(dataset: Dataset) -> Collection:
    """Errors: NoCollection."""
    found = Collection.objects.select_related("dataset").filter(pk=dataset.pk).first()
    if found is None:
        raise NoCollection
    return found


def rounds_of(dataset: Dataset) -> "QuerySet[Round]":
    """The latest first."""
    rows = Round.objects.filter(release__dataset=dataset).select_related(
        "release__version", "release__dataset__collection", "release__requested_by"
    )
    return rows.order_by("-release__version__number")


def round_of(dataset: Dataset, number: int) -> Round:
    """Errors: Http404."""
    found = rounds_of(dataset).filter(release__version__number=number).first()
    if found is None:
        raise Http404("no such round")
    return found


def state_of(found: Round, now: datetime | None = None) -> RoundState:
    """Where a round stands."""
    now, release = now or timezone.now(), found.release
    ended = {
        ReleaseState.PUBLISHED: RoundState.PUBLISHED,
        ReleaseState.FAILED: RoundState.NO_RESULT,
        ReleaseState.CANCELLED: RoundState.CANCELLED,
    }.get(ReleaseState(release.state))
    if ended is not None:
        return ended
    if not found.facts:
        return RoundState.PLANNED if now < found.opens_at else RoundState.CANCELLED
    if now < found.opens_at:
        return RoundState.READY
    return RoundState.OPEN if now < found.closes_at else RoundState.CLOSED


def least_reports_of(found: Round) -> int:
    return plans.least_reports(found.least_honest, found.dishonest_share)


def most_reports_of(found: Round) -> int:
    return plans.most_reports(found.release.dataset, found.reports_per_person)


def reports_of(found: Round, now: datetime | None = None) -> int | None:
    """How many took part: told with the result, at its public moment; None before."""
    ended = state_of(found, now) in {RoundState.PUBLISHED, RoundState.NO_RESULT}
    return found.reports if ended else None


def quote(dataset: Dataset, request: RoundRequest) -> PlannedRound:
    """What a round would be and cost; writes nothing. Errors: `ParameterError`; NoCollection; Busy."""
    collection = collection_of(dataset)
    with turn():  # some take seconds to be found
        return plans.planned(dataset, collection, request)


def plan(
    person: Person,
    dataset: Dataset,
    request: RoundRequest,
    *,
    opens_at: datetime,
    closes_at: datetime,
    page_sha384: str = "",
) -> Round:
    """Reserve the charge of a round that opens later, with its analyser's key and its data version.

    Errors: as `require`; `ParameterError`; NoCollection; BudgetExceeded, AllowanceExceeded, UnboundedCharge,
    TooManyQuestions.
    """
    steward = require(person, dataset, Act.PLAN_ROUNDS)
    found = quote(dataset, request)
    opens_at, closes_at = opens_at.replace(microsecond=0), closes_at.replace(microsecond=0)
    _check_moments(opens_at, closes_at)
    round_id = uuid4()
    elections.ensure_begun()
    key = round_keys.create(round_id)
    try:
        with transitions.locked(dataset.pk) as ledger:
            _check_queue(dataset, opens_at)
            version = _next_version(ledger.dataset, person=steward)
            release = _release(version, steward, found)
            release.pk = round_id
            release.expires_at = opens_at  # without a shuffler by then
            visible_at = closes_at + slots.length(ledger.dataset) + HAND_OVER
            transitions.reserve(release, found.charges, actor=steward, slot=(opens_at, visible_at))
            planned = Round.objects.create(
                release=release,
                reports_per_person=found.reports_per_person,
                least_honest=found.least_honest,
                dishonest_share=found.dishonest_share,
                opens_at=opens_at,
                closes_at=closes_at,
                messages=found.device.messages,
                message_bytes=found.device.message_bytes,
                analyser_key=key,
                page_sha384=page_sha384,
            )
    except BaseException:
        round_keys.destroy(round_id)
        raise
    _log.info("rounds.planned", by=steward.pk, round=round_id)
    return planned


def cancel(person: Person, found: Round) -> None:
    """Give up a round that is not open yet, and get its charge back. Errors: as `require`; RoundNotOpen."""
    steward = require(person, found.release.dataset, Act.PLAN_ROUNDS)
    if not transitions.cancel(found.pk, actor=steward):
        raise RoundNotOpen("a round can be cancelled until it opens, and this one is open, over or cancelled")


def last_moment(found: Round) -> datetime:
    """Until when its messages may be handed over."""
    return found.closes_at + LAST_HAND_OVER


def is_given_up(release: Release, now: datetime) -> bool:
    """Whether nothing was handed over of a round, and nothing will be."""
    found = Round.objects.filter(pk=release.pk).first()
    return found is not None and found.reports is None and now >= last_moment(found)


def has_batch(release: Release) -> bool:
    """Tells whether there is something to read of a round."""
    row = getattr(release, "round", None)
    return row is not None and row.reports is not None


def _check_moments(opens_at: datetime, closes_at: datetime) -> None:
    now = timezone.now()
    if not now < opens_at <= now + FARTHEST:
        raise ParameterError("opens_at", opens_at.isoformat(), "a moment ahead, within a year")
    if not SHORTEST <= closes_at - opens_at <= LONGEST:
        raise ParameterError("closes_at", closes_at.isoformat(), "after the opening, within 90 days of it")


def _check_queue(dataset: Dataset, opens_at: datetime) -> None:
    """One round after the other. The caller holds the ledger's lock."""
    taken = slots.taken_until(dataset.pk).first()
    if taken is not None and opens_at < taken:
        allowed = f"from {taken.isoformat()} on, when the result of the round before is told"
        raise ParameterError("opens_at", opens_at.isoformat(), allowed)


def _next_version(dataset: Dataset, *, person: User) -> DataVersion:
    """Each round is a data version of its own: what is read for it."""
    last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
    version = DataVersion.objects.create(dataset=dataset, number=last + 1, created_by=person, salt=new_salt())
    before: Facts = {"version": last}
    after: Facts = {"version": last + 1, **version_commitments.fact(version)}
    transitions.record(dataset, moves.VERSION, actor=person, before=before, after=after)
    return version


def _release(version: DataVersion, steward: User, found: PlannedRound) -> Release:
    dataset = version.dataset
    error = found.device.expected_error(found.least_reports)
    release = Release(
        dataset=dataset,
        version=version,
        requested_by=steward,
        mechanism=found.device.name,
        epsilon=found.epsilon,
        delta=found.delta,
        resolution=found.resolution,
        parameters=dict(found.parameters),
        covered=text_of(region_of(dataset)),
        guarantee=found.guarantee.to_json(),
        expected_error=asdict(error),
    )
    release.question = question_of(release, found)
    return release


def stored_question(release: Release) -> str:
    """Returns the digest of what the round of a stored release asks."""
    return question_of(release, release.round)


def question_of(release: Release, terms: PlannedRound | Round) -> str:
    """SHA-256 of what is asked; no other release asks it, as each round is a version of its own."""
    body = {
        "dataset": release.version.dataset_id,
        "version": release.version.number,
        "mechanism": release.mechanism,
        "epsilon": str(release.epsilon),
        "delta": str(release.delta),
        "resolution": release.resolution,
        "parameters": {name: str(value) for name, value in release.parameters.items()},
        "reports_per_person": terms.reports_per_person,
        "least_honest": terms.least_honest,
        "dishonest_share": str(terms.dishonest_share),
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
