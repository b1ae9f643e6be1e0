"""Plans rounds of a collection, and tells where each of them stands."""

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
from heatmaps.collections import round_draws, round_keys
from heatmaps.collections.errors import NoCollection, RoundNotOpen
from heatmaps.collections.round_draws import RoundDraw
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.events import Facts, new_salt
from heatmaps.ledger.transitions import moves, slots
from heatmaps.models import Collection, Dataset, DataVersion, Release, ReleaseState, Round
from heatmaps.people.permissions import Act, Person, require
from heatmaps.record import elections
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.check import ParameterError

SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(days=90)
FARTHEST: Final = timedelta(days=366)
# After the closing: who has handed over nothing by then never will, and the round ends without a result.
LAST_HAND_OVER: Final = timedelta(days=7)
HAND_OVER: Final = timedelta(seconds=5)  # beside a slot: what shuffler and analyser need after the closing

_log = structlog.stdlib.get_logger(__name__)


class RoundState(StrEnum):
    """Says where a round stands; public, from public moments and acts alone."""

    PLANNED = "planned"
    READY = "ready"
    OPEN = "open"
    CLOSED = "closed"
    PUBLISHED = "published"
    NO_RESULT = "no_result"
    CANCELLED = "cancelled"


def collection_of(dataset: Dataset) -> Collection:
    """Returns a dataset's collection. Errors: NoCollection."""
    try:
        collection: Collection = dataset.collection
    except Collection.DoesNotExist:
        raise NoCollection from None
    return collection


def rounds_of(dataset: Dataset) -> "QuerySet[Round]":
    """Returns the rounds of a collection, the latest first."""
    rows = Round.objects.filter(release__dataset=dataset).select_related(
        "release__version", "release__dataset__collection", "release__requested_by"
    )
    return rows.order_by("-release__version__number")


def round_of(dataset: Dataset, number: int) -> Round:
    """Returns the round of that number. Errors: Http404."""
    collection_round = rounds_of(dataset).filter(release__version__number=number).first()
    if collection_round is None:
        raise Http404("no such round")
    return collection_round


def state_of(collection_round: Round, now: datetime | None = None) -> RoundState:
    """Tells where a round stands."""
    now, release = now or timezone.now(), collection_round.release
    end = {
        ReleaseState.PUBLISHED: RoundState.PUBLISHED,
        ReleaseState.FAILED: RoundState.NO_RESULT,
        ReleaseState.CANCELLED: RoundState.CANCELLED,
    }.get(ReleaseState(release.state))
    if end is not None:
        return end
    if not collection_round.facts:
        return RoundState.PLANNED if now < collection_round.opens_at else RoundState.CANCELLED
    if now < collection_round.opens_at:
        return RoundState.READY
    return RoundState.OPEN if now < collection_round.closes_at else RoundState.CLOSED


def least_reports_of(collection_round: Round) -> int:
    """Returns the fewest reports with which something is published."""
    return round_draws.least_reports(collection_round.least_honest, collection_round.dishonest_share)


def most_reports_of(collection_round: Round) -> int:
    """Returns the largest number of invitations."""
    return round_draws.most_reports(collection_round.release.dataset, collection_round.reports_per_person)


def reports_of(collection_round: Round, now: datetime | None = None) -> int | None:
    """Returns the number of reports, told with the result at its public moment; None before."""
    is_over = state_of(collection_round, now) in {RoundState.PUBLISHED, RoundState.NO_RESULT}
    return collection_round.reports if is_over else None


def quote(dataset: Dataset, request: ReleaseRequest) -> Plan:
    """Plans a round and writes nothing. Errors: `ParameterError`; NoCollection; Busy."""
    collection = collection_of(dataset)
    with turn():  # some take seconds to be found
        round_draws.check_mechanism(collection, request.mechanism)
        return Plan.of(dataset, request)


def plan(
    person: Person,
    dataset: Dataset,
    request: ReleaseRequest,
    *,
    opens_at: datetime,
    closes_at: datetime,
    page_sha384: str = "",
) -> Round:
    """Reserves the charge of a round that opens later, with its analyser's key and its data version.

    Errors: as `require`; `ParameterError`; NoCollection; BudgetExceeded, AllowanceExceeded, UnboundedCharge,
    TooManyQuestions.
    """
    steward = require(person, dataset, Act.PLAN_ROUNDS)
    round_plan = quote(dataset, request)
    draw: RoundDraw = round_plan.draw
    opens_at, closes_at = opens_at.replace(microsecond=0), closes_at.replace(microsecond=0)
    _check_moments(opens_at, closes_at)
    round_id = uuid4()
    elections.ensure_begun()
    key = round_keys.create(round_id)
    try:
        with transitions.locked(dataset.pk) as ledger:
            _check_queue(dataset, opens_at)
            version = _next_version(ledger.dataset, person=steward)
            release = round_plan.release(
                version,
                pk=round_id,
                requested_by=steward,
                expires_at=opens_at,  # without a shuffler by then
            )
            visible_at = closes_at + slots.length(ledger.dataset) + HAND_OVER
            transitions.reserve(release, round_plan.charges, actor=steward, slot=(opens_at, visible_at))
            collection_round = Round.objects.create(
                release=release,
                reports_per_person=draw.reports_per_person,
                least_honest=draw.least_honest,
                dishonest_share=draw.dishonest_share,
                opens_at=opens_at,
                closes_at=closes_at,
                messages=draw.device.messages,
                message_bytes=draw.device.message_bytes,
                analyser_key=key,
                page_sha384=page_sha384,
            )
    except BaseException:
        round_keys.destroy(round_id)
        raise
    _log.info("rounds.planned", by=steward.pk, round=round_id)
    return collection_round


def cancel(person: Person, collection_round: Round) -> None:
    """Gives up a round that is not open yet, and its charge back. Errors: as `require`; RoundNotOpen."""
    steward = require(person, collection_round.release.dataset, Act.PLAN_ROUNDS)
    if not transitions.cancel(collection_round.pk, actor=steward):
        raise RoundNotOpen("a round can be cancelled until it opens, and this one is open, over or cancelled")


def last_moment(collection_round: Round) -> datetime:
    """Returns until when a round's messages may be handed over."""
    return collection_round.closes_at + LAST_HAND_OVER


def is_given_up(release: Release, now: datetime) -> bool:
    """Tells whether nothing was handed over of a round, and nothing will be."""
    row = Round.objects.filter(pk=release.pk).first()
    return row is not None and row.reports is None and now >= last_moment(row)


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
    """Refuses rounds that overlap. The caller holds the ledger's lock. Errors: `ParameterError`."""
    free_from = slots.taken_until(dataset.pk).first()
    if free_from is not None and opens_at < free_from:
        allowed = f"from {free_from.isoformat()} on, when the result of the round before is told"
        raise ParameterError("opens_at", opens_at.isoformat(), allowed)


def _next_version(dataset: Dataset, *, person: User) -> DataVersion:
    """Makes a data version: each round is one of its own, which is what is read for it."""
    last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
    version = DataVersion.objects.create(dataset=dataset, number=last + 1, created_by=person, salt=new_salt())
    before: Facts = {"version": last}
    after: Facts = {"version": last + 1, **version_commitments.fact(version)}
    transitions.record(dataset, moves.VERSION, actor=person, before=before, after=after)
    return version
