"""Runs the life of a release: reserve, spend, draw, publish.

request -> reserve -> (commit) -> spend -> task -> read masses -> draw -> publish
Spend and publish come at public moments (`heatmaps.releases.clock`); what was drawn waits in between
(`heatmaps.releases.draws`).
Questions and their costs are in `heatmaps.releases.request` and `quote`, what was published in
`heatmaps.releases.results`, states and balances in `heatmaps.ledger.transitions`.
"""

import hashlib
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.budget import alerts
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.errors import IdempotencyConflict, Overtaken, SourceChanged, TooLateToCancel
from heatmaps.models import Dataset, Release, ReleaseState, RequestKey
from heatmaps.people.permissions import Act, Person, require
from heatmaps.record import elections, hold
from heatmaps.releases import draws, engine, source_readings
from heatmaps.releases.idempotency_keys import IdempotencyKey, asks_the_same, earlier_use
from heatmaps.releases.names import UNNAMED, Label
from heatmaps.releases.question import data_slice_of, latest_version, same_release
from heatmaps.releases.quote import ChargeLine, NoDataVersion, Quote, quote
from heatmaps.releases.request import Plan, ReleaseRequest
from heatmaps.releases.results import content_of_result, facts_of_result, heatmap_of, result_of
from mechanisms.randomness import SystemSource
from mechanisms.results.serialization import Result as Released

__all__ = [
    "ChargeLine",
    "NoDataVersion",
    "Quote",
    "ReleaseRequest",
    "cancel",
    "cancellable_ids",
    "content_of_result",
    "facts_of_result",
    "heatmap_of",
    "is_as_promised",
    "may_be_cancelled",
    "quote",
    "request_release",
    "result_of",
    "run",
    "send",
]

_RELATED: Final = ("dataset__collection", "version", "round")  # read once, with what is drawn
_log = structlog.stdlib.get_logger(__name__)


def request_release(
    person: Person,
    dataset: Dataset,
    request: ReleaseRequest,
    *,
    idempotency_key: str | None = None,
    label: Label = UNNAMED,
) -> Release:
    """Reserves and queues a new release, or returns the published one that answers the same question.

    label: of a new release; an answer given again keeps its own.
    Errors: as `permissions.require`; `ParameterError`; NoDataVersion; BudgetExceeded; AllowanceExceeded;
    UnboundedCharge; IdempotencyConflict for a key that was used for another request; of a lake SourceChanged,
    and `SourcesFileError` where the administrator's file does not name what the dataset reads.
    """
    requester = require(person, dataset, Act.RELEASE)
    key = IdempotencyKey.of(idempotency_key, dataset, request)
    earlier = earlier_use(requester, idempotency_key)
    if earlier is not None and earlier.body_sha256 == key.body_sha256:
        return earlier.release  # whatever has become of what it names
    while True:
        try:
            return _answer(requester, dataset, request, key, label)
        except Overtaken:
            pass  # a new version or a published answer meanwhile: look again
        except IntegrityError:
            # The same key at the same moment, and the other request was first.
            if earlier_use(requester, idempotency_key) is None:
                raise


def run(release_id: UUID) -> None:
    """Draws a spent release. Called again, for whatever reason, it does nothing.

    The charge stays, whatever happens; that this worker draws is committed before any data are read.
    """
    release = Release.objects.select_related(*_RELATED).filter(pk=release_id).first()
    if release is None:
        _log.info("release.not_waiting", release=release_id)
        return
    release.dataset.origin.run(release)


def run_elected(release: Release) -> None:
    """Draws as `run` does, once this worker is elected to."""
    origin = release.dataset.origin
    if not origin.is_ready(release) or not draws.claim(release):
        _log.info("release.not_waiting", release=release.pk)
        return
    cause = _cause(release, lambda: _draw(release))
    if cause is not None and origin.may_be_drawn_again and not origin.is_final(cause):
        # Nothing is drawn: whatever is wrong with this machine, the sweep has it read again.
        _log.error("round.not_read", release=release.pk, cause=cause)
        draws.begin_again(release.pk)
    elif cause is not None:
        # The name of the error's class only: its message and its traceback may hold data.
        _log.error("release.no_result", release=release.pk, cause=cause)
        draws.give_up(release.pk)
    origin.after_draw()


def send(release: Release) -> None:
    """Has a worker draw a spent release."""
    queue.send(release.dataset.origin.task, str(release.pk))


def is_as_promised(release: Release) -> bool:
    """Tells whether today's program keeps the promise that a release is charged for."""
    return release.dataset.origin.is_promise_kept(release)


def cancel(person: Person, release: Release) -> None:
    """Gives up a queued release of one's own, and its charge back.

    Errors: as `permissions.require`, PermissionDenied for somebody else's, TooLateToCancel.
    """
    requester = require(person, release.dataset, Act.RELEASE)
    if release.requested_by_id != requester.pk:
        raise PermissionDenied("a release is cancelled by the person who asked for it")
    if not transitions.cancel(release.pk, actor=requester):
        raise TooLateToCancel


def may_be_cancelled(release: Release) -> bool:
    """Tells whether a release is ahead, as it says, unless it waits for an operator."""
    return release.pk in cancellable_ids([release])


def cancellable_ids(releases: Iterable[Release]) -> frozenset[UUID]:
    """Returns those of these releases that may be cancelled, with one query for all of them."""
    now = timezone.now()
    # A round is cancelled where it was planned.
    ahead = [
        release
        for release in releases
        if release.dataset.origin.is_asked
        and release.state == ReleaseState.RESERVED
        and release.starts_at > now
    ]
    return frozenset(release.pk for release in hold.not_kept_back(ahead)) if ahead else frozenset()


def _answer(
    requester: User, dataset: Dataset, request: ReleaseRequest, key: IdempotencyKey, label: Label
) -> Release:
    """Returns the release for a request, and reserves it if it is new.

    Errors: Overtaken, IntegrityError and those of `request_release`.
    """
    plan = Plan.of(dataset, request)
    # What is looked up here is without the ledger's lock: `reserve` refuses when any of it is no longer so.
    earlier = earlier_use(requester, key.text)
    if earlier is not None:
        if not asks_the_same(earlier.release, dataset, plan):
            raise IdempotencyConflict
        return earlier.release
    version = latest_version(dataset)
    if version is None:
        raise NoDataVersion
    if plan.guide is not None and plan.guide.version_id not in (None, version.pk):
        raise Overtaken
    release = same_release(dataset, plan.question(version))
    if release is None:
        # A published answer is given whatever became of the files.
        if not dataset.origin.may_be_read(version):
            raise SourceChanged
        new = plan.release(
            version,
            requested_by=requester,
            expires_at=timezone.now() + timedelta(seconds=settings.RESERVATION_SECONDS),
            name=label.name,
            note=label.note,
        )
        elections.ensure_begun()
        with transitions.locked(dataset.pk):
            # Planning takes seconds, in which the role or the account may have ended.
            require(User.objects.get(pk=requester.pk), dataset, Act.RELEASE)
            release = transitions.reserve(
                new,
                plan.charges,
                actor=requester,
                key=key.text,
                body_sha256=key.body_sha256,
                unless_answered=True,
            )
        alerts.log_crossings(dataset, plan.charges)
    elif key.text is not None:
        RequestKey.objects.create(
            requested_by=requester, key=key.text, body_sha256=key.body_sha256, release=release
        )
    return release


def _cause(release: Release, draw: Callable[[], Released]) -> type[Exception] | None:
    """Stores a result, or returns the class of what went wrong: the charge stays, and nothing is retried."""
    try:
        with draws.lease(release.pk):
            _store(release, draw())
    except draws.GivenUp:
        _log.warning("release.given_up_before_drawn", release=release.pk)
    except Exception as error:  # noqa: BLE001 - the data, the machine or the database: all the same here
        return type(error)
    return None


def run_in_lake(release: Release) -> None:
    """Draws as `run` does, but reads first, as often as it takes, and is elected to draw only then."""
    tag = source_readings.begin(release.pk)
    if tag is None:
        _log.info("release.not_waiting", release=release.pk)
        return
    try:
        with source_readings.lease(release.pk, tag):
            version_commitments.check(release.dataset, release.version)
            draw = engine.promised_draw_of(release)
            read = draw.read(release.dataset, release.version, data_slice_of(release))
    except source_readings.FINAL as error:
        _log.error("release.no_result", release=release.pk, cause=type(error))
        source_readings.give_up(release.pk, tag)
        return
    except Exception as error:  # noqa: BLE001 - Spark, the network, the machine or the database
        _log.error("source.not_read", release=release.pk, cause=type(error))
        was_asked = not isinstance(error, source_readings.NOT_ASKED)
        source_readings.let_go(release.pk, tag, was_asked=was_asked)
        return
    if not source_readings.claim(release, tag):
        _log.warning("release.given_up_before_drawn", release=release.pk)
        return
    cause = _cause(release, lambda: draw.release(read, SystemSource()))
    if cause is not None:
        _log.error("release.no_result", release=release.pk, cause=cause)
        draws.give_up(release.pk)


def _draw(release: Release) -> Released:
    """Draws a release. Errors: `BrokenPromise`, `VersionChanged`."""
    version_commitments.check(release.dataset, release.version)
    released: Released = release.dataset.origin.result(release)
    return released


def _store(release: Release, result: Released) -> None:
    content = result.to_bytes()
    draws.finish(release.pk, content, hashlib.sha256(content).hexdigest())
